import { second } from '../db/clock.ts'
import { feature } from '../feature.ts'

export const nodeHubFeature = feature({
  name: 'node-hub',
  schedule: [{ everyMs: 5 * second, words: 'looking for silent nodes', work: ({ hub }) => hub.sweep() }],
})
