// What an operation has done, in the past tense: for activity and the audit log. It is made of the beginning of the
// operation's summary, so that it is said once; `past` of an operation stands where people say something else.
import type { Operation } from '../api/operation.ts'

/** Verbs whose past tense is not made with -ed or -d. */
const irregular: Readonly<Record<string, string>> = {
  Begin: 'Began',
  Bring: 'Brought',
  Cancel: 'Cancelled',
  Choose: 'Chose',
  Drop: 'Dropped',
  Forget: 'Forgot',
  Give: 'Gave',
  Leave: 'Left',
  Let: 'Let',
  Make: 'Made',
  Put: 'Put',
  Read: 'Read',
  Reset: 'Reset',
  Send: 'Sent',
  Set: 'Set',
  Shut: 'Shut',
  Stop: 'Stopped',
  Swap: 'Swapped',
  Take: 'Took',
  Tell: 'Told',
  Unban: 'Unbanned',
  Withdraw: 'Withdrew',
}
/** A word in neither list has no past tense here: its operation says `past`, which a test holds to. */
const regular = new Set(
  (
    'Accept Add Ask Attach Back Boot Change Check Compare Confirm Create Decide Declare Delete Detach Detect ' +
    'Disable Download Draft Enable End Enlarge Evacuate Finish Force Generate Import Invite Label Link Lock Mail Mark Move ' +
    'Open Order Pause Point Reboot Rebuild Refresh Refuse Reinstall Release Remove Rename Replace Reserve Restart ' +
    'Restore Resume Revoke Rotate Save Start Suspend Switch Terminate Test Trust Turn Unassign Unlink Unlock ' +
    'Unsuspend Update Upload Verify'
  ).split(' '),
)

/** `Back up a disk` becomes `Backed up a disk`; undefined where the first word is no verb of the lists. */
export function inPast(sentence: string): string | undefined {
  const [verb = '', ...rest] = sentence.split(' ')
  const past = irregular[verb] ?? (regular.has(verb) ? withEd(verb) : undefined)
  return past && [past, ...rest].join(' ')
}
const withEd = (verb: string) =>
  verb.endsWith('e') ? `${verb}d` : verb.endsWith('y') ? `${verb.slice(0, -1)}ied` : `${verb}ed`

/** A workload stands beside what was done to it: `Renamed`, `Reset the root password`. */
const workload = /( (of|to|on|from|in))? an? (running )?(server|GPU instance)$/

/** The words for what an operation has done; undefined where neither it nor its summary says them. */
export function pastOf({ summary, past, on }: Pick<Operation, 'summary' | 'past' | 'on'>): string | undefined {
  if (past) return past
  const words = inPast(summary.split(/[;:,]/)[0]!)
  return on?.name === 'server' || on?.name === 'GPU instance' ? words?.replace(workload, '') : words
}
