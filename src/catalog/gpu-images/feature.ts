import { feature } from '../../kernel/feature.ts'
import { changeGpuImage, createGpuImage, listGpuImages } from './images.ts'
import { gpuImageTarget, registryPassword } from './queries.ts'
import { gpuImages } from './tables.ts'

const errors = {
  gpu_image_not_found: { status: 404, when: 'There is no such GPU image.', remedy: 'Check the id.' },
} as const

const ids = { gpuImage: { prefix: 'gim', sample: 'PyTorch 2.9', also: ['GPUImage'] } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    'gpu-images': { ids: typeof ids; errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  no_container_image: 'The image is missing on the node.',
  registry_refused: 'The registry of the image refuses the login.',
  registry_unreachable: 'The registry of the image does not answer.',
} as const

export const gpuImagesFeature = feature({
  name: 'gpu-images',
  failures,
  ids,
  errors,
  samples: {
    reference: `registry.example.com/ml/pytorch@sha256:${'0'.repeat(64)}`,
    mostMb: 12_288,
    jupyter: true,
    description: 'PyTorch with Jupyter, for training and notebooks.',
    icon: 'book',
    docsUrl: 'https://docs.example.com/pytorch',
    opensPort: 8888,
    command: null,
    environment: 'HF_HOME=/workspace/huggingface',
    registryUsername: 'berth',
    instances: 3,
  },
  tables: [gpuImages],
  encrypted: [registryPassword],
  operations: [listGpuImages, createGpuImage, changeGpuImage],
  auditTargets: [gpuImageTarget],
  nav: [
    {
      kinds: ['staff'],
      group: 'Infrastructure',
      position: 249,
      name: 'gpu-images',
      title: 'GPU images',
      href: '/admin/gpu-images',
      icon: 'gpu',
      within: 'gpu-instances',
      sees: listGpuImages,
    },
  ],
  async fixture({ admin }) {
    const body = { ...createGpuImage.example!, name: 'fixture' }
    return { 'GPU image': (await admin('POST', '/admin/gpu-images', body)).id }
  },
})
