// A topic with types: said once, checked by the compiler when sending, and there when reading.
import assert from 'node:assert/strict'
import { Consumer, json, nullable, Producer, string, topic } from 'ottla'
import { startBroker } from 'ottla/broker'

interface Account {
  readonly owner: string
  readonly balance: number
}

// nullable(): the topic holds tombstones, so its values are read as `Account | null`.
const accounts = topic('accounts', { key: string(), value: nullable(json<Account>()) })

await using kafka = await startBroker({ topics: { accounts: 1 } })
await using producer = new Producer({ brokers: kafka.brokers })
await producer.send(accounts, [
  { key: 'a-1', value: { owner: 'Ada', balance: 100 } },
  { key: 'a-2', value: { owner: 'Bo', balance: 20 } },
  { key: 'a-1', value: { owner: 'Ada', balance: 70 } },
  { key: 'a-2', value: null },
])
// @ts-expect-error -- an account has an owner
const wrong = () => producer.send(accounts, { key: 'a-3', value: { balance: 1 } })
void wrong

const balances = new Map<string, number>()
await using consumer = new Consumer({ brokers: kafka.brokers, topics: [accounts], from: 'beginning', to: 'end' })
for await (const { key, value } of consumer) {
  if (key === null) continue
  if (value === null) balances.delete(key)
  else balances.set(key, value.balance)
}

console.log(balances)
assert.deepEqual(balances, new Map([['a-1', 70]]))
