// The entry “Location” of a server's settings, by which its owner moves it to another one.
import { cancelRelocation } from '../../../src/compute/transfers/readdressing/cancel.ts'
import { relocateServer, type relocationOptions } from '../../../src/compute/transfers/readdressing/relocate.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Exact } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { refusedBy, type Server } from '../servers/words.ts'
import { Setting } from '../workloads/settings-entry.tsx'
import { duration } from './words.tsx'

type Options = Answers<{ o: typeof relocationOptions }>['o']
type Destination = Options['locations'][number]
type Props = { server: Server; options: Options | undefined }

/** Nothing where no move is offered. */
export const Relocate = ({ server: s, options }: Props) =>
  options?.atWork ? (
    <Setting op={cancelRelocation} title="Location" words={`On its way to ${options.atWork.location.name}`}>
      <Action
        op={cancelRelocation}
        params={{ id: s.id }}
        label="Cancel the move"
        title={`Leave ${s.hostname} in ${options.location.name}?`}
        submit="Cancel the move"
        done={`The move of ${s.hostname} is cancelled`}
        disabledReason={!options.atWork.cancellable && 'It can be cancelled no more: it comes to its end.'}
        confirm={{
          keep: 'Let it move',
          consequences: [
            `${s.hostname} stays in ${options.location.name} with its addresses.`,
            'What was copied is deleted, and the new addresses are free for others.',
          ],
        }}
      />
    </Setting>
  ) : options?.locations.length ? (
    <Setting op={relocateServer} title="Location" words={options.location.name}>
      <Action
        op={relocateServer}
        params={{ id: s.id }}
        label="Move to another location"
        wide
        title={`Move ${s.hostname} to another location?`}
        submit="Move"
        done={`The move of ${s.hostname} has begun`}
        disabledReason={disabledReason(s, options)}
        confirm={{ type: s.hostname, keep: 'Leave it', consequences: consequencesOf(s, options) }}
        fields={
          <Radios
            scope={`relocate-${s.id}`}
            name="locationId"
            label="Location"
            value={choicesIn(options).find(({ possible }) => possible)?.location.id}
            options={options.locations.map((one) => ({
              value: one.location.id,
              label: one.location.name,
              hint: hintOf(one),
              why: refusalThere(one, options),
            }))}
          />
        }
      />
    </Setting>
  ) : null

/** A move back to held addresses does not count. */
const isUsedUp = ({ heldUntil }: Destination, { left }: Options) => heldUntil === null && left === 0
const choicesIn = (options: Options) => options.locations.filter((one) => !isUsedUp(one, options))
const TOMORROW = 'It was moved today already. Try again tomorrow.'
const refusalThere = (one: Destination, options: Options) =>
  one.reason ?? (isUsedUp(one, options) ? TOMORROW : undefined)
const disabledReason = (s: Server, options: Options): string | undefined =>
  s.job
    ? 'A job is working on it. Wait until it has ended.'
    : (refusedBy(s, 'relocate') ??
      options.notPossible ??
      (choicesIn(options).some(({ possible }) => possible) ? undefined : refusalThere(options.locations[0]!, options)))

const hintOf = ({ possible, expectedSeconds, expectedDowntimeMs, heldUntil }: Destination) => (
  <>
    {possible &&
      `${expectedSeconds ? `Takes at most ${duration(expectedSeconds)}` : 'At once'}, ${
        expectedDowntimeMs ? `off for at most ${duration(expectedDowntimeMs / 1000)}` : 'without a stop'
      }.`}
    {heldUntil !== null && (
      <>
        {' '}
        Its former addresses are held for it until <Exact iso={heldUntil} />.
      </>
    )}
  </>
)

const consequencesOf = ({ addresses }: Server, { newIpv4, newIpv6 }: Options) => [
  `It loses ${addresses.map(({ address }) => address).join(', ')}, and gets ${newOnes(newIpv4, newIpv6)} instead. ` +
    'You are told which at once.',
  'Its disks are copied while it runs. Then it is shut down, and starts there with its new addresses.',
  'Plan, price, disks, firewall and traffic count stay.',
  'You change yourself what names the old addresses: DNS records, reverse DNS, licences, firewalls elsewhere.',
]
const newOnes = (ipv4: number, ipv6: readonly number[]) =>
  [
    ...(ipv4 ? [count(ipv4, 'IPv4 address', 'IPv4 addresses')] : []),
    ...(ipv6.length ? [count(ipv6.length, 'IPv6 prefix', 'IPv6 prefixes')] : []),
  ].join(' and ')
