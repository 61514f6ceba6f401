// Each row of the table: what is done about a vm whose live move broke off.
import { describe, expect, test } from 'bun:test'
import {
  type Presence,
  presenceOf,
  type RecoveryAction,
  recoveryOf,
} from '../../../agent/protocol/values/move-recovery.ts'

const rows: readonly (readonly [string, Presence, Presence, 'migrated' | '', 'owned' | '', RecoveryAction])[] = [
  ['runs at the source, never came to the target', 'running', 'absent', '', '', 'keep_source'],
  ['runs at the source, only defined at the target', 'running', 'off', '', '', 'keep_source'],
  ['runs at the source again after a lost answer, paused at the target', 'running', 'paused', '', '', 'keep_source'],
  ['runs at the source, the target is away', 'running', 'unreachable', '', '', 'keep_source'],
  ['runs at the source, the target owns it and is away', 'running', 'unreachable', '', 'owned', 'wait'],
  ['gone from the source, paused at the target', 'absent', 'paused', '', '', 'resume_target'],
  ['ended at the source by the migration, paused at the target', 'off', 'paused', 'migrated', '', 'resume_target'],
  ['off at the source without a migration, paused at the target', 'off', 'paused', '', '', 'keep_source'],
  ['off at the source, paused at the target that owns it', 'off', 'paused', '', 'owned', 'resume_target'],
  ['paused on both', 'paused', 'paused', '', '', 'resume_source'],
  ['paused at the source, nothing at the target', 'paused', 'absent', '', '', 'resume_source'],
  ['paused at the source, the target is away', 'paused', 'unreachable', '', '', 'resume_source'],
  ['the source is away, paused at the target', 'unreachable', 'paused', '', '', 'wait'],
  ['the source is away, paused at the target that owns it', 'unreachable', 'paused', '', 'owned', 'resume_target'],
  ['the source is away, nothing at the target', 'unreachable', 'absent', '', '', 'wait'],
  ['both are away', 'unreachable', 'unreachable', '', '', 'wait'],
  ['runs at the target that owns it, gone from the source', 'absent', 'running', '', 'owned', 'finish'],
  ['runs at the target that owns it, the source is away', 'unreachable', 'running', '', 'owned', 'finish'],
  ['runs at the target that was never told to, the source is away', 'unreachable', 'running', '', '', 'wait'],
  ['runs on both', 'running', 'running', '', '', 'stop_target'],
  ['gone from the source, the target is away', 'absent', 'unreachable', '', '', 'wait'],
  ['ended at the source by the migration, the target is away', 'off', 'unreachable', 'migrated', '', 'wait'],
  ['off at the source, the target is away', 'off', 'unreachable', '', '', 'keep_source'],
  ['off at the source, nothing at the target', 'off', 'absent', '', '', 'keep_source'],
  ['on no node', 'absent', 'absent', '', '', 'lost'],
  ['ended at the source by the migration, off at the target', 'off', 'off', 'migrated', 'owned', 'lost'],
]

test.each(rows)('a vm that is %s', (_, source, target, migrated, owned, action) => {
  expect(recoveryOf({ source, target, migrated: !!migrated, ownedByTarget: !!owned })).toBe(action)
})

describe('in every case', () => {
  const presences = ['running', 'paused', 'off', 'absent', 'unreachable'] as const
  const all = presences.flatMap((source) =>
    presences.flatMap((target) =>
      [true, false].flatMap((migrated) =>
        [true, false].map((ownedByTarget) => ({ source, target, migrated, ownedByTarget })),
      ),
    ),
  )

  test('nothing is resumed while the other node runs it or may run it', () => {
    for (const one of all) {
      const action = recoveryOf(one)
      if (action === 'resume_target') {
        expect(one.source).not.toBe('running')
        if (one.source === 'unreachable') expect(one.ownedByTarget).toBe(true)
      }
      if (action === 'resume_source') {
        expect(one.target).not.toBe('running')
        if (one.target === 'unreachable') expect(one.ownedByTarget).toBe(false)
      }
    }
  })

  test('what runs is never given up for what does not', () => {
    for (const one of all) {
      const action = recoveryOf(one)
      if (one.source === 'running') expect(['keep_source', 'stop_target', 'wait']).toContain(action)
      else if (one.target === 'running') expect(['finish', 'wait']).toContain(action)
    }
  })
})

test.each([
  ['running (unpaused)', 'running', false],
  ['paused (migrating)', 'paused', false],
  ['shut off (migrated)', 'off', true],
  ['shut off (crashed)', 'off', false],
  ['crashed (panicked)', 'off', false],
  ['', 'absent', false],
] as const)('%s is read as it is', (words, presence, migrated) => {
  expect(presenceOf(words)).toEqual({ presence, migrated })
})
