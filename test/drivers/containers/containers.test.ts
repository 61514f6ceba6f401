// The contract of container engines, for the fake and for Podman where it is installed, and what Podman alone can show.
import { Database } from 'bun:sqlite'
import { afterAll, describe } from 'bun:test'
import { FakeContainers } from '../../../agent/drivers/container/fake.ts'
import { containerImage, containerOf } from '../../agent/instances/examples.ts'
import { note } from '../tools.ts'
import { containersContract } from './contract.ts'
import { closePodman, givenWithout, podmanIsMissing, podmanRig } from './podman-rig.ts'

describe('the fake engine', () => {
  containersContract(async () => {
    const containers = new FakeContainers(new Database(':memory:'))
    return {
      containers,
      image: containerImage,
      container: containerOf,
      given: async (n) => givenWithout(n, `/fake/workspaces/${n}`),
      kill: async (workload) => containers.end(workload, { exitCode: 137 }),
    }
  })
})

describe.skipIf(note(await podmanIsMissing(), 'containers with Podman'))('Podman', () => {
  afterAll(closePodman)
  containersContract(podmanRig)
})
