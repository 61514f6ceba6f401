import type { Container, ContainerImage } from '../../../agent/protocol/gpu.ts'

/** The id `gpu_…` with the number at its end. */
export const instanceId = (n: number) => `gpu_${String(n).padStart(26, '0')}`
export const cardId = (n: number) => `GPU-00000000-0000-0000-0000-${String(n).padStart(12, '0')}`
export const cardOf = (n: number) => ({ uuid: cardId(n), model: 'Test Card', memoryMb: 24_576 })
export const containerImage: ContainerImage = {
  id: 'gim_00000000000000000000000001',
  reference: `registry.example.com/tests/base@sha256:${'0'.repeat(64)}`,
  mostBytes: 50e9,
}
export const containerOf = (n: number, more: Partial<Container> = {}): Container => ({
  workload: instanceId(n),
  number: n,
  hostname: `gpu${n}`,
  image: containerImage.id,
  cards: [],
  vcpus: 1,
  memoryMb: 128,
  environment: [{ name: 'GREETING', value: 'hello' }],
  address: null,
  ports: [{ container: 22, host: 20_000 + n }],
  authorizedKeys: ['ssh-ed25519 AAAA someone'],
  restartPolicy: 'on_failure',
  ...more,
})
