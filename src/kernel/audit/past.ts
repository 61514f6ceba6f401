// Operations in the past tense, for activity and the audit log. The words are made of the beginning of the
// summary, so that they are said once; `past` of an operation stands where people say something else.
import type { Operation } from '../api/operation.ts'

/** First words of summaries whose past tense is not made with -ed or -d. */
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
    'Disable Download Draft Enable End Enlarge Evacuate Finish Force Generate Import Invite Label Link Lock Mail ' +
    'Mark Move ' +
    'Open Order Pause Point Reboot Rebuild Refresh Refuse Reinstall Release Remove Rename Replace Reserve Restart ' +
    'Restore Resume Revoke Rotate Save Start Suspend Switch Terminate Test Trust Turn Unassign Unlink Unlock ' +
    'Unsuspend Update Upload Verify'
  ).split(' '),
)

/** `Back up a disk` becomes `Backed up a disk`; undefined where its first word is in no list. */
export function inPast(sentence: string): string | undefined {
  const [first = '', ...rest] = sentence.split(' ')
  const past = irregular[first] ?? (regular.has(first) ? withEd(first) : undefined)
  return past && [past, ...rest].join(' ')
}
const withEd = (word: string) =>
  word.endsWith('e') ? `${word}d` : word.endsWith('y') ? `${word.slice(0, -1)}ied` : `${word}ed`

/** A workload stands beside what was done to it: `Renamed`, `Reset the root password`. */
const workload = /( (of|to|on|from|in))? an? (running )?(server|GPU instance)$/

/** The words for what an operation has done; undefined where neither it nor its summary says them. */
export function pastOf({ summary, past, on }: Pick<Operation, 'summary' | 'past' | 'on'>): string | undefined {
  if (past) return past
  const words = inPast(summary.split(/[;:,]/)[0]!)
  return on?.name === 'server' || on?.name === 'GPU instance' ? words?.replace(workload, '') : words
}
