// A node adopts servers of the hypervisor that it is itself.
import { afterAll, beforeAll, describe } from 'bun:test'
import { noSourceLab } from '../../../support/source-hypervisors/lab.ts'
import { note } from '../../tools.ts'
import { adoptionsContract } from './adoptions-contract.ts'
import { type AdoptionsLab, adoptionsLab } from './adoptions-lab.ts'

describe.skipIf(note(await noSourceLab(), 'adopting servers of another panel'))(
  'a node that is a hypervisor of another panel',
  () => {
    let lab: AdoptionsLab
    beforeAll(async () => {
      lab = await adoptionsLab('ad')
    }, 60_000)
    afterAll(async () => {
      await lab?.end()
    })

    adoptionsContract(() => lab.rig)
  },
)
