// The window against a model of Kafka's rules for producer state: whatever is lost or refused, every record is in the log once and in
// order, and the caller is told the truth.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KafkaError } from '../../../src/errors.js'
import { Batch } from '../../../src/client/producer/batch.js'
import { Budget } from '../../../src/client/producer/budget.js'
import { SingleDelivery } from '../../../src/client/producer/delivery.js'
import { PartitionWindow, type Outcome } from '../../../src/client/producer/partition-window.js'
import type { ProducerIdentity } from '../../../src/client/producer/producer-identity.js'
import { codecByName } from '../../../src/protocol/records/compression/index.js'
import { toKafkaError, errorCodes, type ErrorName } from '../../../src/protocol/messages/error-table.js'

const remembered = 5

/** One partition of a broker, with Kafka's checks of producer epochs and sequences (ProducerAppendInfo). */
class ModelBroker {
  readonly log: number[] = []
  #epoch = -1
  #batches: { first: number; last: number; offset: number }[] = []

  /** The base offset, or the error. */
  append(bytes: Buffer, ids: readonly number[]): number | ErrorName {
    const epoch = bytes.readInt16BE(51)
    const first = bytes.readInt32BE(53)
    const last = first + bytes.readInt32BE(57) - 1
    expect(last - first + 1).toBe(ids.length)
    if (epoch < this.#epoch) return 'INVALID_PRODUCER_EPOCH'
    if (epoch > this.#epoch) {
      if (this.#epoch >= 0 && first !== 0) return 'OUT_OF_ORDER_SEQUENCE_NUMBER'
      this.#batches = []
      this.#epoch = epoch
    } else {
      const known = this.#batches.find((batch) => batch.first === first && batch.last === last)
      if (known) return known.offset
      if (first !== this.#batches.at(-1)!.last + 1) return 'OUT_OF_ORDER_SEQUENCE_NUMBER'
    }
    const offset = this.log.length
    this.#batches = [...this.#batches, { first, last, offset }].slice(-remembered)
    this.log.push(...ids)
    return offset
  }
}

type Fate = 'ok' | 'refused' | 'fatal' | 'afterAppend' | 'lostBefore' | 'lostAfter'

const refusedBy = (name: ErrorName): Outcome => {
  const error = toKafkaError(errorCodes[name], { what: 'Produce' })
  return { kind: name === 'NOT_ENOUGH_REPLICAS_AFTER_APPEND' ? 'unknown' : 'refused', error }
}
const lost = (): Outcome => ({
  kind: 'unknown',
  error: new KafkaError('lost', { code: 'CONNECTION_LOST', retriable: true }),
})

class Lab {
  readonly broker = new ModelBroker()
  readonly identity = {
    current: { producerId: 7, producerEpoch: 0 },
    after: (used: { producerId: number; producerEpoch: number }) => ({
      ...used,
      producerEpoch: used.producerEpoch + 1,
    }),
  } as unknown as ProducerIdentity
  readonly window = new PartitionWindow(this.identity, codecByName('none'))
  readonly results = new Map<number, { offset: number } | KafkaError>()
  readonly ids = new Map<Batch, number[]>()
  readonly budget = new Budget(1e9)
  waiting: Batch[] = []
  flights: { batch: Batch; bytes: Buffer }[] = []
  #next = 0

  newBatch(count: number): void {
    const batch = new Batch(this.budget, 1e6, 0, 0, Infinity)
    const ids: number[] = []
    for (let i = 0; i < count; i++) {
      const id = this.#next++
      const delivery = new SingleDelivery()
      delivery.promise.then(
        (metadata) => this.results.set(id, metadata),
        (error: KafkaError) => this.results.set(id, error),
      )
      batch.append(0, null, `${id}`, undefined, delivery, 0)
      ids.push(id)
    }
    this.ids.set(batch, ids)
    this.waiting.push(batch)
  }

  send(): void {
    while (this.flights.length < 5) {
      const batch = this.window.take(1, () => this.waiting.shift())
      if (!batch) return
      this.flights.push({ batch, bytes: Buffer.from(batch.hold()) })
    }
  }

  /** The oldest request gets its answer, or the connection breaks and all that are in flight with it. */
  answer(fate: Fate): void {
    const flight = this.flights.shift()
    if (!flight) return
    const { batch, bytes } = flight
    const append = () => this.broker.append(bytes, this.ids.get(batch)!)
    if (fate === 'refused') this.#settle(batch, refusedBy('NOT_LEADER_OR_FOLLOWER'))
    else if (fate === 'fatal') this.#settle(batch, refusedBy('TOPIC_AUTHORIZATION_FAILED'))
    else if (fate === 'ok' || fate === 'afterAppend') {
      const answer = append()
      if (typeof answer === 'string') this.#settle(batch, refusedBy(answer))
      else if (fate === 'ok') this.#settle(batch, { kind: 'written', baseOffset: answer, appendTime: -1 })
      else this.#settle(batch, refusedBy('NOT_ENOUGH_REPLICAS_AFTER_APPEND'))
    } else {
      if (fate === 'lostAfter') append()
      const others = this.flights
      this.flights = []
      for (const broken of [flight, ...others]) this.#settle(broken.batch, lost())
    }
  }

  #settle(batch: Batch, outcome: Outcome): void {
    this.window.settle(batch, outcome, 'orders', 0)
  }

  expire(): void {
    const oldest = [...this.window.batches()].find((batch) => !batch.isSettled)
    this.window.fail(
      (batch) => batch === oldest,
      (_batch, maybeWritten) => new KafkaError('late', { code: 'TIMEOUT', maybeWritten }),
    )
  }
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('new' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), fate: fc.constant<Fate>('ok') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      fate: fc.constantFrom<Fate>('refused', 'fatal', 'afterAppend', 'lostBefore', 'lostAfter'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
)

it('T01 T02 T03 T05 every record is written once and in order, and its sender is told the truth', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const lab = new Lab()
      for (const one of steps) {
        if (one.do === 'new') lab.newBatch(one.count)
        else if (one.do === 'answer') lab.answer(one.fate)
        else lab.expire()
        lab.send()
      }
      // Then all goes well: everything comes to an end.
      for (let i = 0; i < 400 && (lab.flights.length > 0 || lab.waiting.length > 0 || !lab.window.isEmpty); i++) {
        lab.answer('ok')
        lab.send()
      }
      expect([lab.flights.length, lab.waiting.length, lab.window.isEmpty]).toEqual([0, 0, true])
      await Promise.resolve()
      expect(lab.budget.used).toBe(0)
      const { log } = lab.broker
      expect(log).toEqual([...new Set(log)].sort((a, b) => a - b))
      const count = [...lab.ids.values()].flat().length
      expect(lab.results.size).toBe(count)
      for (const [id, result] of lab.results) {
        if (!(result instanceof KafkaError)) expect(log[result.offset]).toBe(id)
        else if (result.maybeWritten === false) expect(log).not.toContain(id)
      }
    }),
    { numRuns: 2000 },
  )
})
