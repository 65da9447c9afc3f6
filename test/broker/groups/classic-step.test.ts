// The rules of the classic group, state by state, on the pure step function.
import { describe, expect, test } from 'vitest'
import type { JoinReply, LeaveReply, SyncReply } from '../../../src/broker/groups/classic-group.js'
import { commitError, isSubscribed } from '../../../src/broker/groups/group-members.js'
import { Script, subscription } from './classic-events.js'

const joinReply = (script: Script, ticket: number) => script.replies.get(ticket) as JoinReply
const syncReply = (script: Script, ticket: number) => script.replies.get(ticket) as SyncReply
const commit = (script: Script, memberId: string, generation = script.generation, instanceId: string | null = null) =>
  commitError(script.state, { memberId, instanceId, generation })

describe('joining', () => {
  test('the first member leads generation 1 alone and is told who is there', () => {
    const script = new Script().join(1)
    expect(script.moves).toEqual(['Empty -> PreparingRebalance'])
    expect(script.timer('join')).toBe(0)
    script.give({ kind: 'joinTimeout' })
    expect(script.moves).toEqual(['PreparingRebalance -> CompletingRebalance'])
    expect(joinReply(script, 1)).toMatchObject({ error: 'NONE', generation: 1, leader: 'new-1', protocol: 'range' })
    expect(joinReply(script, 1).members.map(({ memberId }) => memberId)).toEqual(['new-1'])
  })

  test('T58 a dynamic member without an id is sent back with one from version 4, and held as pending for its session timeout', () => {
    const script = new Script().join(1, '', { requiresKnownMemberId: true })
    expect(joinReply(script, 1)).toMatchObject({ error: 'MEMBER_ID_REQUIRED', memberId: 'new-1', generation: -1 })
    expect(script.timer({ memberId: 'new-1' })).toBe(10_000)
    expect(script.state.kind).toBe('Empty')
    script.join(2, 'new-1', { requiresKnownMemberId: true }).give({ kind: 'joinTimeout' })
    expect(joinReply(script, 2)).toMatchObject({ error: 'NONE', memberId: 'new-1' })
  })

  test('B07 a rebalance waits for a pending member, until it joins or its session ends', () => {
    const script = new Script().stable(1).join(2, '', { requiresKnownMemberId: true }).join(3, 'new-1')
    expect(script.state.kind).toBe('PreparingRebalance')
    expect(script.error(3)).toBeUndefined()
    script.give({ kind: 'sessionTimeout', memberId: 'new-2' })
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', generation: 2 })
  })

  test('B07 a pending member that leaves is waited for no longer', () => {
    const script = new Script()
      .stable(1)
      .join(2, '', { requiresKnownMemberId: true })
      .join(3, 'new-1')
      .leave(4, 'new-2')
    expect((script.replies.get(4) as LeaveReply).members).toEqual([
      { memberId: 'new-2', instanceId: null, error: 'NONE' },
    ])
    expect(script.error(3)).toBe('NONE')
  })

  test('a member with a made-up id is unknown', () => {
    expect(new Script().join(1, 'ghost').error(1)).toBe('UNKNOWN_MEMBER_ID')
    expect(new Script().stable(1).join(2, 'ghost').error(2)).toBe('UNKNOWN_MEMBER_ID')
  })

  test('B07 another protocol type, or none in common, is INCONSISTENT_GROUP_PROTOCOL', () => {
    const script = new Script().stable(1)
    script.join(2, '', { protocolType: 'connect' })
    script.join(3, '', { protocols: [{ name: 'sticky', metadata: Buffer.of() }] })
    expect([script.error(2), script.error(3)]).toEqual(['INCONSISTENT_GROUP_PROTOCOL', 'INCONSISTENT_GROUP_PROTOCOL'])
    expect(new Script().join(4, '', { protocols: [] }).error(4)).toBe('INCONSISTENT_GROUP_PROTOCOL')
    expect(new Script().join(5, '', { protocolType: '' }).error(5)).toBe('INCONSISTENT_GROUP_PROTOCOL')
  })

  test('an empty group takes on the protocol type of whoever comes next', () => {
    const script = new Script().stable(1).leave(2, 'new-1')
    script.join(3, '', { protocolType: 'connect' }).give({ kind: 'joinTimeout' })
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', protocolType: 'connect', generation: 3 })
  })

  test('the protocol with most votes among those that all support wins', () => {
    const prefer = (...names: string[]) => ({ protocols: names.map((name) => ({ name, metadata: Buffer.from(name) })) })
    const wishes = [prefer('alien', 'sticky', 'range'), prefer('range', 'sticky'), prefer('sticky', 'range')]
    const script = new Script().stable(3, (at) => wishes[at - 1] ?? {})
    expect(joinReply(script, 1).protocol).toBe('sticky')
    expect(joinReply(script, 1).members.map(({ metadata }) => metadata.toString())).toEqual([
      'sticky',
      'sticky',
      'sticky',
    ])
    expect(joinReply(script, 2).members).toEqual([])
  })

  test('B07 group.max.size turns away who is too many, by the members or, in a rebalance, by those who wait', () => {
    const limits = { maxSize: 2, initialDelayMs: 0 }
    const script = new Script().stable(2, () => ({ limits })).join(3, '', { limits })
    expect(joinReply(script, 3)).toMatchObject({ error: 'GROUP_MAX_SIZE_REACHED', memberId: '' })
    const smaller = { maxSize: 1, initialDelayMs: 0 }
    script.join(4, 'new-1', { limits: smaller })
    expect(script.state.kind).toBe('PreparingRebalance')
    script.join(5, 'new-2', { limits: smaller })
    expect(script.error(5)).toBe('GROUP_MAX_SIZE_REACHED')
    expect(script.memberIds).toEqual(['new-1'])
  })

  test('the initial delay is prolonged by each new member, up to the rebalance timeout', () => {
    const limits = { maxSize: 10, initialDelayMs: 3_000 }
    const script = new Script().join(1, '', { limits, rebalanceTimeoutMs: 8_000 })
    expect(script.timer('join')).toBe(3_000)
    script.join(2, '', { limits, rebalanceTimeoutMs: 8_000 }).give({ kind: 'joinTimeout' })
    expect(script.timer('join')).toBe(3_000)
    script.join(3, '', { limits, rebalanceTimeoutMs: 8_000 }).give({ kind: 'joinTimeout' })
    expect(script.timer('join')).toBe(2_000)
    script.give({ kind: 'joinTimeout' })
    expect(joinReply(script, 1).members).toHaveLength(3)
  })

  test('T70 a new member whose client is gone is dropped even while its first join waits', () => {
    const script = new Script().stable(1).join(2)
    expect(script.timer({ memberId: 'new-2' })).toBe(300_000)
    script.give({ kind: 'sessionTimeout', memberId: 'new-2' })
    expect(joinReply(script, 2)).toMatchObject({ error: 'UNKNOWN_MEMBER_ID', memberId: '' })
    expect(script.memberIds).toEqual(['new-1'])
  })

  test('a follower that joins again unchanged gets the generation that stands; the leader rebalances the group', () => {
    const script = new Script().stable(2).join(3, 'new-2')
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', generation: 1, leader: 'new-1', members: [] })
    expect(script.state.kind).toBe('Stable')
    script.join(4, 'new-1')
    expect(script.state.kind).toBe('PreparingRebalance')
  })

  test('a follower with another subscription rebalances the group', () => {
    const changed = { protocols: [{ name: 'range', metadata: subscription('payments') }] }
    const script = new Script().stable(2).join(3, 'new-2', changed)
    expect(script.state.kind).toBe('PreparingRebalance')
    script.join(4, 'new-1')
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', generation: 2 })
  })

  test('a member that lost the answer to its join gets it again while the leader assigns', () => {
    const script = new Script().join(1).join(2).delayIsOver().join(3, 'new-1')
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', generation: 1 })
    expect(joinReply(script, 3).members).toHaveLength(2)
    expect(script.state.kind).toBe('CompletingRebalance')
  })

  test('a join sent again by another connection replaces the one that waits', () => {
    const script = new Script().stable(2).join(3, 'new-1').join(4, 'new-1')
    expect(script.effects).toContainEqual({ kind: 'abandon', ticket: 3 })
    script.join(5, 'new-2')
    expect([script.error(3), script.error(4), script.error(5)]).toEqual([undefined, 'NONE', 'NONE'])
  })
})

describe('a rebalance', () => {
  test('T70 drops who has not come back when the longest rebalance timeout of all is over', () => {
    const script = new Script()
      .stable(3, (at) => ({ rebalanceTimeoutMs: at * 10_000 }))
      .join(4, 'new-1', { rebalanceTimeoutMs: 10_000 })
    expect(script.timer('join')).toBe(30_000)
    script.join(5, 'new-2').give({ kind: 'joinTimeout' })
    expect(script.memberIds).toEqual(['new-1', 'new-2'])
    expect(script.timer({ memberId: 'new-3' })).toBe('cancelled')
    expect(script.heartbeat(6, 'new-3').error(6)).toBe('UNKNOWN_MEMBER_ID')
  })

  test('names another leader when the old one did not come back', () => {
    const script = new Script().stable(2).join(3).join(4, 'new-2').give({ kind: 'joinTimeout' })
    expect(joinReply(script, 4).leader).toBe('new-2')
    expect(joinReply(script, 4).members.map(({ memberId }) => memberId)).toEqual(['new-2', 'new-3'])
  })

  test('that ends with nobody leaves the group Empty in a new generation', () => {
    const script = new Script().stable(2).leave(3, 'new-1', 'new-2')
    expect(script.moves).toEqual(['Stable -> PreparingRebalance', 'PreparingRebalance -> Empty'])
    expect(script.state).toMatchObject({ kind: 'Empty', generation: 2, protocolType: 'consumer' })
    expect(script.effects).toContainEqual({ kind: 'persist' })
  })

  test('sends those who wait for their assignment back to join', () => {
    const script = new Script().join(1).join(2).delayIsOver().sync(3, 'new-2').join(4)
    expect(script.moves).toEqual(['CompletingRebalance -> PreparingRebalance'])
    expect(script.error(3)).toBe('REBALANCE_IN_PROGRESS')
  })

  test('follows when a member never asks for its assignment', () => {
    const script = new Script().join(1).join(2).delayIsOver()
    expect(script.timer('sync')).toBe(60_000)
    script.sync(3, 'new-1').give({ kind: 'syncTimeout' })
    expect(script.memberIds).toEqual(['new-1'])
    expect(script.state.kind).toBe('PreparingRebalance')
    expect(script.heartbeat(4, 'new-1').error(4)).toBe('REBALANCE_IN_PROGRESS')
  })

  test('gives the static members that did not come back until the end of their session', () => {
    const script = new Script()
      .stable(1, () => ({ instanceId: 'i1' }))
      .join(2)
      .give({ kind: 'joinTimeout' })
    expect(script.memberIds).toEqual(['new-1', 'new-2'])
    expect(joinReply(script, 2)).toMatchObject({ error: 'NONE', leader: 'new-2', generation: 2 })
  })

  test('with nobody but absent static members tries again later', () => {
    const script = new Script().stable(1, () => ({ instanceId: 'i1' })).join(2, '', { requiresKnownMemberId: true })
    script.join(3, 'new-2').leave(4, 'new-2').give({ kind: 'joinTimeout' })
    expect(script.state.kind).toBe('PreparingRebalance')
    expect(script.timer('join')).toBe(60_000)
    script.give({ kind: 'sessionTimeout', memberId: 'new-1' })
    expect(script.state.kind).toBe('Empty')
  })
})

describe('assignment', () => {
  test('each member gets what the leader gave it, who was forgotten gets nothing', () => {
    const script = new Script().join(1).join(2).delayIsOver().sync(3, 'new-2')
    expect(script.error(3)).toBeUndefined()
    script.sync(4, 'new-1', { 'new-1': 'all of it' })
    expect(syncReply(script, 4).assignment.toString()).toBe('all of it')
    expect(syncReply(script, 3)).toMatchObject({
      error: 'NONE',
      protocolType: 'consumer',
      protocol: 'range',
      assignment: new Uint8Array(),
    })
    expect(script.moves).toEqual(['CompletingRebalance -> Stable'])
    expect(script.timer('sync')).toBe('cancelled')
  })

  test('a member that asks in a stable group gets its part at once', () => {
    const script = new Script().stable(2).sync(9, 'new-2')
    expect(syncReply(script, 9).assignment.toString()).toBe('part of new-2')
  })

  test('REBALANCE_IN_PROGRESS, ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID are told apart', () => {
    const script = new Script().stable(1)
    expect(script.sync(10, 'new-1', {}, 0).error(10)).toBe('ILLEGAL_GENERATION')
    expect(script.sync(11, 'ghost').error(11)).toBe('UNKNOWN_MEMBER_ID')
    script.join(12)
    expect(script.sync(13, 'new-1').error(13)).toBe('REBALANCE_IN_PROGRESS')
    expect(new Script().sync(14, 'ghost').error(14)).toBe('UNKNOWN_MEMBER_ID')
  })

  test('a protocol type or name that is not the group’s is INCONSISTENT_GROUP_PROTOCOL (KIP-559)', () => {
    const script = new Script().stable(1)
    const ask = (ticket: number, protocolType: string, protocol: string) => {
      const assignments = new Map<string, Uint8Array>()
      script.give({
        kind: 'sync',
        ticket,
        memberId: 'new-1',
        instanceId: null,
        generation: 1,
        protocolType,
        protocol,
        assignments,
      })
      return script.error(ticket)
    }
    expect(ask(20, 'connect', 'range')).toBe('INCONSISTENT_GROUP_PROTOCOL')
    expect(ask(21, 'consumer', 'sticky')).toBe('INCONSISTENT_GROUP_PROTOCOL')
    expect(ask(22, 'consumer', 'range')).toBe('NONE')
  })
})

describe('heartbeats and sessions', () => {
  test('T56 a heartbeat in a rebalance is REBALANCE_IN_PROGRESS and renews the session all the same', () => {
    const script = new Script().stable(1).join(2).heartbeat(3, 'new-1')
    expect(script.error(3)).toBe('REBALANCE_IN_PROGRESS')
    expect(script.timer({ memberId: 'new-1' })).toBe(10_000)
  })

  test('T57 a heartbeat of a past generation or of a stranger is told so and renews nothing', () => {
    const script = new Script().stable(1)
    expect(script.heartbeat(2, 'new-1', 0).error(2)).toBe('ILLEGAL_GENERATION')
    expect(script.timer({ memberId: 'new-1' })).toBeUndefined()
    expect(script.heartbeat(3, 'ghost').error(3)).toBe('UNKNOWN_MEMBER_ID')
  })

  test('B07 a member that falls silent is out, and the others rebalance', () => {
    const script = new Script().stable(2).give({ kind: 'sessionTimeout', memberId: 'new-1' })
    expect(script.moves).toEqual(['Stable -> PreparingRebalance'])
    script.join(3, 'new-2')
    expect(joinReply(script, 3)).toMatchObject({ error: 'NONE', leader: 'new-2', generation: 2 })
  })

  test('who waits in a rebalance cannot fall silent', () => {
    const script = new Script().stable(2).join(3, 'new-1').give({ kind: 'sessionTimeout', memberId: 'new-1' })
    expect(script.memberIds).toEqual(['new-1', 'new-2'])
  })

  test('a commit is a sign of life, but not while the leader assigns', () => {
    const script = new Script().stable(1).give({ kind: 'committed', memberId: 'new-1' })
    expect(script.timer({ memberId: 'new-1' })).toBe(10_000)
    const completing = new Script().join(1).give({ kind: 'joinTimeout' }).give({ kind: 'committed', memberId: 'new-1' })
    expect(completing.effects).toEqual([])
  })
})

describe('leaving', () => {
  test('several at once cost one rebalance, and each has its own outcome', () => {
    const script = new Script().stable(3).leave(4, 'new-1', 'ghost', 'new-3')
    expect((script.replies.get(4) as LeaveReply).members.map(({ error }) => error)).toEqual([
      'NONE',
      'UNKNOWN_MEMBER_ID',
      'NONE',
    ])
    expect(script.moves).toEqual(['Stable -> PreparingRebalance'])
    expect(script.memberIds).toEqual(['new-2'])
  })

  test('T82 a member that leaves while its join waits gets UNKNOWN_MEMBER_ID there', () => {
    const script = new Script().stable(2).join(3, 'new-1').leave(4, 'new-1')
    expect(script.error(3)).toBe('UNKNOWN_MEMBER_ID')
    expect(script.memberIds).toEqual(['new-2'])
  })

  test('an administrator removes a static member by its instance', () => {
    const script = new Script().stable(2, (at) => ({ instanceId: `i${at}` }))
    const members = [
      { memberId: '', instanceId: 'i2', reason: null },
      { memberId: '', instanceId: 'nobody', reason: null },
      { memberId: 'ghost', instanceId: 'i1', reason: null },
    ]
    script.give({ kind: 'leave', ticket: 9, members })
    const errors = (script.replies.get(9) as LeaveReply).members.map(({ error }) => error)
    expect(errors).toEqual(['NONE', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID'])
    expect(script.memberIds).toEqual(['new-1'])
  })
})

describe('T69 static members (KIP-345)', () => {
  const isStatic = (at: number) => ({ instanceId: `i${at}` })

  test('one that comes back without its id takes its former place and assignment, without a rebalance', () => {
    const script = new Script().stable(2, isStatic).join(7, '', { instanceId: 'i2', requiresKnownMemberId: true })
    expect(joinReply(script, 7)).toMatchObject({
      error: 'NONE',
      memberId: 'new-7',
      generation: 1,
      leader: 'new-1',
      skipAssignment: false,
    })
    expect(script.moves).toEqual([])
    expect(script.effects).toContainEqual({ kind: 'persist' })
    script.sync(8, 'new-7')
    expect(syncReply(script, 8).assignment.toString()).toBe('part of new-2')
  })

  test('its former self is fenced', () => {
    const script = new Script().stable(2, isStatic).join(7, '', { instanceId: 'i2' })
    expect(script.heartbeat(8, 'new-2', 1, 'i2').error(8)).toBe('FENCED_INSTANCE_ID')
    expect(commit(script, 'new-2', 1, 'i2')).toBe('FENCED_INSTANCE_ID')
    expect(script.join(9, 'new-2', { instanceId: 'i2' }).error(9)).toBe('FENCED_INSTANCE_ID')
    expect(script.heartbeat(10, 'new-7', 1, 'i2').error(10)).toBe('NONE')
  })

  test('a leader that comes back is told of the assignment there is (KIP-814), or by older versions that another leads', () => {
    const script = new Script().stable(2, isStatic).join(7, '', { instanceId: 'i1', canSkipAssignment: true })
    expect(joinReply(script, 7)).toMatchObject({ memberId: 'new-7', leader: 'new-7', skipAssignment: true })
    expect(joinReply(script, 7).members.map(({ memberId }) => memberId)).toEqual(['new-7', 'new-2'])
    script.join(8, '', { instanceId: 'i1', canSkipAssignment: false })
    expect(joinReply(script, 8)).toMatchObject({
      memberId: 'new-8',
      leader: 'new-7',
      skipAssignment: false,
      members: [],
    })
  })

  test('one that comes back with protocols that change the group’s choice does rebalance it', () => {
    const both = ['range', 'sticky'].map((name) => ({ name, metadata: subscription('orders') }))
    const script = new Script().stable(2, (at) => ({ ...isStatic(at), protocols: both }))
    script.join(7, '', { instanceId: 'i2', protocols: both.slice(1) })
    expect(script.moves).toEqual(['Stable -> PreparingRebalance'])
  })

  test('one that comes back while the leader assigns starts the rebalance anew', () => {
    const script = new Script().join(1, '', isStatic(1)).join(2, '', isStatic(2)).delayIsOver()
    script.sync(3, 'new-2').join(7, '', { instanceId: 'i2' })
    expect(script.error(3)).toBe('FENCED_INSTANCE_ID')
    expect(script.moves).toEqual(['CompletingRebalance -> PreparingRebalance'])
  })

  test('one that comes back while its former self waits fences it there', () => {
    const script = new Script()
      .stable(2, isStatic)
      .join(3, 'new-1', { instanceId: 'i1' })
      .join(7, '', { instanceId: 'i1' })
    expect(joinReply(script, 3)).toMatchObject({ error: 'FENCED_INSTANCE_ID', memberId: 'new-1' })
    script.join(8, 'new-2', { instanceId: 'i2' })
    expect(joinReply(script, 7)).toMatchObject({ error: 'NONE', leader: 'new-7', generation: 2 })
  })
})

describe('commits', () => {
  test('B08 from outside are taken by an empty group, and refused while it has members', () => {
    expect(commit(new Script(), '', -1)).toBe('NONE')
    expect(commit(new Script().stable(1), '', -1)).toBe('UNKNOWN_MEMBER_ID')
    expect(commit(new Script().stable(1).leave(2, 'new-1'), '', -1)).toBe('NONE')
  })

  test('B08 T56 of a member are taken with the old generation in PreparingRebalance, and REBALANCE_IN_PROGRESS in CompletingRebalance', () => {
    const script = new Script().stable(1)
    expect(commit(script, 'new-1')).toBe('NONE')
    script.join(2)
    expect(script.state.kind).toBe('PreparingRebalance')
    expect(commit(script, 'new-1', 1)).toBe('NONE')
    script.join(3, 'new-1')
    expect(script.state.kind).toBe('CompletingRebalance')
    expect(commit(script, 'new-1', 2)).toBe('REBALANCE_IN_PROGRESS')
  })

  test('T57 of a past generation are ILLEGAL_GENERATION, of a stranger UNKNOWN_MEMBER_ID', () => {
    const script = new Script().stable(1)
    expect(commit(script, 'new-1', 0)).toBe('ILLEGAL_GENERATION')
    expect(commit(script, 'ghost', 1)).toBe('UNKNOWN_MEMBER_ID')
    expect(commit(new Script().stable(1).leave(2, 'new-1'), 'new-1', 1)).toBe('UNKNOWN_MEMBER_ID')
  })
})

describe('the end of a group', () => {
  test('only an empty one can be deleted', () => {
    expect(new Script().stable(1).give({ kind: 'delete' }).state.kind).toBe('Stable')
    expect(new Script().give({ kind: 'delete' }).moves).toEqual(['Empty -> Dead'])
  })

  test('T61 when another broker takes over, everyone who waits is told NOT_COORDINATOR', () => {
    const preparing = new Script().stable(2).join(3, 'new-1').give({ kind: 'unload' })
    expect(joinReply(preparing, 3)).toMatchObject({ error: 'NOT_COORDINATOR', memberId: 'new-1' })
    const completing = new Script().join(1).join(2).delayIsOver().sync(3, 'new-2').give({ kind: 'unload' })
    expect(completing.error(3)).toBe('NOT_COORDINATOR')
    expect(completing.join(4).error(4)).toBe('COORDINATOR_NOT_AVAILABLE')
  })
})

describe('subscriptions', () => {
  test('T89 are read out of the members’ metadata, and unknown ones count as everything', () => {
    const script = new Script().stable(2, (at) => ({
      protocols: [{ name: 'range', metadata: subscription(`t${at}`) }],
    }))
    expect(['t1', 't2', 't3'].map((topic) => isSubscribed(script.state, topic))).toEqual([true, true, false])
    const odd = new Script().stable(1, () => ({ protocols: [{ name: 'range', metadata: Buffer.from('?') }] }))
    expect(isSubscribed(odd.state, 't3')).toBe(true)
    expect(isSubscribed(script.leave(9, 'new-1', 'new-2').state, 't1')).toBe(false)
    expect(isSubscribed(new Script().state, 't1')).toBe(false)
  })
})
