// A program that prints its result as a JSON line: started, timed out, and killed when the bench is.
import { spawn } from 'node:child_process'

const running = new Set()

/** Resolves with the last line of output that is an object, or with `{ error }`; never rejects. */
export function resultOf([command, args], { cwd, timeoutMs }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    let output = ''
    let complaints = ''
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      child.kill('SIGKILL')
    }, timeoutMs)
    const end = (result) => {
      clearTimeout(timer)
      running.delete(child)
      resolve(result)
    }
    child.stdout.on('data', (data) => (output += data))
    child.stderr.on('data', (data) => (complaints += data))
    child.on('error', (cause) => end({ error: cause.message }))
    child.on('close', (code) => {
      const line = output.split('\n').findLast((one) => one.startsWith('{'))
      if (line !== undefined) end(JSON.parse(line))
      else if (isLate) end({ error: `no result after ${timeoutMs / 1000} s` })
      else end({ error: firstError(complaints) ?? `ended with code ${code} and no result` })
    })
  })
}

const firstError = (text) => text.split('\n').find((line) => /^\w*Error\b/.test(line))

export function killAll() {
  for (const child of running) child.kill('SIGKILL')
}
