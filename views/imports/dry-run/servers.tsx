// The list of servers as the dry run has found them, and the findings on the page of one server.
import type { IconName } from '../../components/icon.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import type { Column } from '../../components/table.tsx'
import { Moment } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { duration } from '../../compute/transfers/words.tsx'
import { Why } from '../mapping/choice.tsx'
import { ServerFinding, type SourceServer } from '../mapping/servers.tsx'

type Check = NonNullable<SourceServer['check']>
type Look = readonly [tone: Tone, shape: IconName, words: string]
const results: Record<NonNullable<Check['result']>, Look> = {
  ready: ['ok', 'tick', 'Ready'],
  remark: ['warn', 'away', 'Remark'],
  to_fix: ['bad', 'fail', 'To fix'],
  stays: ['hold', 'hold', 'Stays'],
}
/** Of a server that comes the result of the dry run; of others the reason why they stay. */
function Outcome({ of }: { of: SourceServer }) {
  const { check, state } = of
  if (state === 'left_out' || state === 'already_moved' || (state === 'refused' && !check))
    return <ServerFinding of={of} />
  const [tone, shape, words] = check?.result ? results[check.result] : (['idle', 'wait', 'Not looked at'] as const)
  return (
    <State tone={tone} shape={shape}>
      {words}
    </State>
  )
}

const seenWords = ({ check, os }: SourceServer) =>
  [check?.disk?.format, check?.disk && 'BIOS', os].filter(Boolean).join(' · ')
const wordsOf = (one: SourceServer) =>
  one.check?.findings.map(({ words }) => words).join('; ') || one.reason || seenWords(one)
/** Of a server that can come; for others there is nothing to announce. */
const comes = ({ check }: SourceServer) => check?.result === 'ready' || check?.result === 'remark'
const seconds = (one: SourceServer, n: number | null | undefined) => (comes(one) && n != null ? duration(n) : '–')

export const columns: readonly Column<SourceServer>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 24,
    sort: 'hostname',
    cell: ({ id, hostname, sourceId }) => (
      <>
        <Link to="/admin/import-servers/{id}" params={{ id }} title={hostname}>
          {hostname}
        </Link>
        <small>{`number ${sourceId} there`}</small>
      </>
    ),
  },
  { title: 'Result', kind: 'state', width: 13, cell: (one) => <Outcome of={one} /> },
  { title: 'Finding', kind: 'wide', width: 27, cell: (one) => <Why>{wordsOf(one)}</Why> },
  { title: 'Goes to', kind: 'a', width: 11, cell: (one) => (comes(one) && one.check?.node?.name) || '–' },
  {
    title: 'Disk',
    kind: 'b',
    num: true,
    width: 9,
    sort: '-disk',
    cell: ({ check }) => (check?.disk ? bytes(check.disk.bytes) : '–'),
  },
  { title: 'Copy', kind: 'mid', num: true, width: 8, cell: (one) => seconds(one, one.check?.copySeconds) },
  { title: 'Away', kind: 'mid', num: true, width: 8, cell: (one) => seconds(one, one.check?.awaySeconds) },
]

/** On the page of one server. */
export const CheckSection = ({ check }: { check: Check }) => (
  <Section id="check" title="Dry run" flush>
    <ul class="rows wrap">
      {check.findings.map(({ level, words, remedy }) => {
        const [tone] = results[level]
        return (
          <li>
            <Icon name={level === 'remark' ? 'info' : 'warning'} class={tone} />
            <div class="grow">
              <b>{words.slice(0, 1).toUpperCase() + words.slice(1)}</b>
              {remedy && <small>{remedy}</small>}
            </div>
          </li>
        )
      })}
      {!check.findings.length && (
        <li>
          <Icon name="check" class="ok" />
          <div class="grow">
            <b>{check.result ? 'Nothing was found against it' : 'Its node looks at it now'}</b>
          </div>
        </li>
      )}
    </ul>
    <div class="in-rows">
      <Facts
        of={[
          ['Would go to', check.node && (check.pool ? `${check.node.name}, ${check.pool}` : check.node.name)],
          ['Because', check.reason],
          ['Disk', check.disk && diskWords(check.disk)],
          ['MAC address', check.mac && <span class="mono">{check.mac}</span>],
          ['Copy', check.copySeconds !== null && `about ${duration(check.copySeconds)}`],
          ['Away', check.awaySeconds !== null && `about ${duration(check.awaySeconds)}`],
          ['New IPv4 addresses', check.newIpv4 || null],
          ['Looked at', <Moment iso={check.at} />],
        ]}
      />
    </div>
  </Section>
)
const diskWords = ({ format, bytes: all, usedBytes, path }: NonNullable<Check['disk']>) =>
  [format, usedBytes === null ? bytes(all) : `${bytes(usedBytes)} of ${bytes(all)}`, path].filter(Boolean).join(' · ')
