import { mayCall, type ReadContext } from '../../kernel/api/operation.ts'
import { idsStoredAs } from '../ip-pools/queries.ts'
import { linesOf, ofAddress, storedAs } from './queries.ts'
import { listAddressHistory } from './show.ts'

/** A whole address, in use or not: its page says who has it and who had it. */
export const addressSearch = {
  type: 'address',
  position: 35,
  place: ({ actor }: ReadContext) => (mayCall(listAddressHistory, actor) ? '/admin/addresses/' : undefined),
  find({ tx }: ReadContext, text: string) {
    const spellings = storedAs(text)
    if (!spellings) return []
    const slice = { after: undefined, skip: 0, limit: 1, order: undefined }
    const [last] = linesOf(tx, ofAddress(spellings, undefined), slice)
    if (!last && !idsStoredAs(tx, spellings).length) return []
    const holder = last && `${last.name ?? last.floatingIpName ?? last.workloadId} of ${last.ownerName}`
    const detail = holder ? (last.until === null ? holder : `Last had by ${holder}`) : 'Nobody had it'
    return [{ id: spellings[0]![0], title: spellings[0]![0], detail, exact: true }]
  },
}
