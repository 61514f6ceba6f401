import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { gauges } from '../../kernel/monitoring.ts'
import { gpusInTrouble } from './attention.ts'
import { checkCard, checkingCards, checkWaitingCards } from './check.ts'
import { changeGpuCard, changeGpuHost, forgetGpuCard, listGpus } from './hosts.ts'
import { cardsByState } from './model.ts'
import { cardTarget } from './queries.ts'
import { gpuCards, gpuHosts, gpuPorts } from './tables.ts'

const errors = {
  gpu_card_not_found: { status: 404, when: 'There is no such GPU card.', remedy: 'Check the id.' },
} as const

const ids = { gpuCard: { prefix: 'crd', sample: 'NVIDIA H100 80GB HBM3', also: ['GPUCard'] } } as const

const scopes = { 'gpu:write': { words: 'Manage GPU cards, images and offers' } } as const

const permissions = {
  'gpu.write': { words: 'Manage GPU cards, images and offers', opens: ['gpu:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    gpus: { scopes: typeof scopes; permissions: typeof permissions; ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  card_broken: 'A card of the node is broken.',
  no_card: 'A card is missing on the node.',
} as const

export const gpusFeature = feature({
  name: 'gpus',
  failures,
  scopes,
  permissions,
  ids,
  errors,
  samples: {
    uuid: 'GPU-5a1c2d3e-0b4f-4a6c-9d7e-8f9a0b1c2d3e',
    model: 'NVIDIA H100 80GB HBM3',
    bus: '0000:3b:00.0',
    driver: '550.163.01',
    serial: '1650524001234',
    nvlinks: 18,
    mig: 'off',
    publicAddress: '203.0.113.5',
    firstPort: 20_000,
    lastPort: 29_999,
    httpDomain: 'gpu1.example.com',
    httpState: 'served',
    httpProblem: null,
    clearedMb: 80_000,
    memoryGbPerSecond: 2400,
  },
  tables: [gpuHosts, gpuCards, gpuPorts],
  jobs: [checkingCards],
  operations: [listGpus, changeGpuHost, changeGpuCard, checkCard, forgetGpuCard],
  attention: [gpusInTrouble],
  figures: ({ db }) => [gauges('berth_cards', 'GPU cards of all nodes by state.', 'state', cardsByState(db))],
  auditTargets: [cardTarget],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 245,
      name: 'gpus',
      title: 'GPU hosts',
      href: '/admin/gpu',
      icon: 'gpu',
      within: 'gpu-instances',
      sees: listGpus,
    },
  ],
  schedule: [
    {
      everyMs: 5 * second,
      words: 'starting the checks of cards',
      work: ({ db, app }) => checkWaitingCards(db, app),
    },
  ],
})
