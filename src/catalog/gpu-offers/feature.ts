import { feature } from '../../kernel/feature.ts'
import { changeGpuOffer, createGpuOffer, listGpuOffers } from './offers.ts'
import { gpuOfferTarget, offerShortOfPorts } from './queries.ts'
import { gpuOfferImages, gpuOffers } from './tables.ts'

const errors = {
  gpu_offer_not_found: { status: 404, when: 'There is no such GPU offer.', remedy: 'Check the id.' },
} as const

const ids = { gpuOffer: { prefix: 'off', sample: '1x H100', also: ['GPUOffer', 'offer'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'gpu-offers': { ids: typeof ids; errors: typeof errors }
  }
}

export const gpuOffersFeature = feature({
  name: 'gpu-offers',
  ids,
  errors,
  samples: { cards: 1, workspaceGb: 500, ownIpv4: false },
  tables: [gpuOffers, gpuOfferImages],
  operations: [listGpuOffers, createGpuOffer, changeGpuOffer],
  catalogueUse: { offerShortOfPorts },
  auditTargets: [gpuOfferTarget],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 248,
      name: 'gpu-offers',
      title: 'GPU offers',
      href: '/admin/gpu-offers',
      icon: 'gpu',
      within: 'gpu-instances',
      sees: listGpuOffers,
    },
  ],
  async fixture({ admin }) {
    const { id } = await admin('POST', '/admin/gpu-images', {
      name: 'fixture of an offer',
      reference: `registry.example.com/fixture@sha256:${'1'.repeat(64)}`,
      mostMb: 100,
    })
    const body = { ...createGpuOffer.example!, name: 'fixture', imageIds: [id] }
    return { 'GPU offer': (await admin('POST', '/admin/gpu-offers', body)).id }
  },
})
