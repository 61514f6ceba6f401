// Random sequences of calls by several people, while nodes fail, go away and come back and the controller loses its
// power. A small model says what must be accepted and what must be refused; afterwards tables and nodes agree.
// BERTH_LONG=1 plays 2,000 of them, SEQUENCES=n so many, SEQUENCE=n one alone and tells its calls.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { quickCount } from '../../support/quick.ts'
import { play } from './play.ts'
import { makeStage, type Stage } from './stage.ts'

const CALLS = 50
const usual = process.env['BERTH_LONG'] === '1' ? 2000 : quickCount(30, 6)
const count = Number(process.env['SEQUENCES'] ?? usual)
const one = process.env['SEQUENCE']
const seeds = one ? [Number(one)] : Array.from({ length: count }, (_, i) => i + 1)

let stage: Stage
let [accepted, refused] = [0, 0]
beforeAll(async () => {
  stage = await makeStage()
}, 60_000)
afterAll(() => {
  if (!one && count >= 30 && (accepted < count * 5 || refused < count * 5))
    throw new Error(`the sequences do little: ${accepted} calls accepted, ${refused} refused`)
})

for (const seed of seeds)
  test(`sequence ${seed}: nothing is lost or doubled, and every answer is as the model says`, async () => {
    const played = await play(stage, seed, CALLS)
    accepted += played.accepted
    refused += played.refused
    if (played.faults.length) console.error(`sequence ${seed}:\n${played.log.join('\n')}`)
    expect(played.faults).toEqual([])
  }, 60_000)
