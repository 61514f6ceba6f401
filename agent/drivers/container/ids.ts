// Names and ids on the host that follow from an instance's number.
import { Failure } from '../../failure.ts'

/** User ids of one instance: those of an ordinary system. */
export const IDS_EACH = 65_536
/** The ids below belong to the host and its users. */
const FIRST_RANGE = 16
/** The kernel has 65,536 ranges of that size. */
const SLOTS = 60_000

/** The place of an instance among those of a host. */
export const slotOf = (number: number) => number % SLOTS

/** The user and group id on the host that are 0 in the instance. */
export const uidBase = (number: number) => (FIRST_RANGE + slotOf(number)) * IDS_EACH

type Numbered = { workload: string; number: number }

/** Throws `slot_taken` when another instance of this host has the same place. */
export function mustBeAlone({ workload, number }: Numbered, others: readonly Numbered[]) {
  const other = others.find((one) => one.workload !== workload && slotOf(one.number) === slotOf(number))
  if (other)
    throw new Failure('slot_taken', `${workload} (${number}) has the user ids of ${other.workload} (${other.number})`)
}
