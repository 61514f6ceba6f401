// Beside the decisions: what has changed there, what would be made here, and what no import brings.
import type { ComponentChildren } from 'preact'
import { type QuotaResource, quotaWords } from '../../../src/identity/resellers/quota.ts'
import type { listChanges } from '../../../src/imports/discovery/discover.ts'
import type { getPlan } from '../../../src/imports/mapping/mapping.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { count, gb, list } from '../../components/words.ts'
import { Points } from './points.tsx'
import type { Import } from './words.tsx'

type Changes = Answers<{ changes: typeof listChanges }>['changes']
type Plan = Answers<{ plan: typeof getPlan }>['plan']

const MOST_NAMED = 3
const changeWords = {
  new: { icon: 'plus', words: (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'is' : 'are'} new` },
  gone: { icon: 'close', words: (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'is' : 'are'} gone` },
  changed: { icon: 'refresh', words: (n: number) => `${n.toLocaleString('en')} ${n === 1 ? 'has' : 'have'} changed` },
} as const

export const SinceLastTime = ({ of, changes }: { of: Import; changes: Changes }) => (
  <Section
    id="since"
    title="Since the last reading"
    actions={
      <Link to="/admin/imports/{id}/changes" params={{ id: of.id }}>
        {`All ${changes.total.toLocaleString('en')}`}
      </Link>
    }
  >
    <ul class="rows">
      {(['new', 'gone', 'changed'] as const).map((kind) => {
        const n = of.changes[kind]
        const named = changes.data.filter(({ change }) => change === kind).slice(0, MOST_NAMED)
        return (
          n > 0 && (
            <li>
              <Icon name={changeWords[kind].icon} class="muted" />
              <div class="grow">
                <b>{changeWords[kind].words(n)}</b>
                <small>{named.map(({ name, words }) => (words ? `${name}: ${words}` : name)).join('; ')}</small>
              </div>
            </li>
          )
        )
      })}
    </ul>
  </Section>
)

export const WhatItWouldDo = ({ of, plan }: { of: Import; plan: Plan }) => (
  <Section id="plan" title="What it would do" count="as things are decided">
    <ul class="rows">
      {plan.locations.map(({ name, servers, diskGb, newIpv4, freeIpv4 }) => (
        <Line
          icon="location"
          title={`${count(servers, 'server')} to ${name}`}
          words={[
            `${gb(diskGb)} of disks`,
            ...(newIpv4 ? [`${count(newIpv4, 'new IPv4 address', 'new IPv4 addresses')} of ${freeIpv4} free`] : []),
          ].join(', ')}
          short={newIpv4 > freeIpv4 && 'Too few addresses are free there.'}
        />
      ))}
      {plan.adopted.map(({ name, servers }) => (
        <Line icon="node" title={`${count(servers, 'server')} adopted on ${name}`} words="one restart each" />
      ))}
      {plan.packagesToMake.length > 0 && (
        <Line
          icon="package"
          title={`${count(plan.packagesToMake.length, 'new package')}`}
          words={named(plan.packagesToMake)}
        />
      )}
      {plan.poolsToMake.length > 0 && (
        <Line
          icon="pool"
          title={`${count(plan.poolsToMake.length, 'new address pool')}`}
          words={named(plan.poolsToMake)}
        />
      )}
      <Line
        icon="customers"
        title={count(plan.accounts.toMake, 'new account')}
        words={
          plan.accounts.toJoin.length
            ? `servers join ${count(plan.accounts.toJoin.length, 'account')} that you chose`
            : 'no server joins an account that is there'
        }
      />
      {plan.quotas.map((quota) => (
        <Line
          icon="resellers"
          title={`${quota.name}: ${quotaOf(quota)}`}
          words={usedNow(quota)}
          short={quota.isExceeded && 'The quota is exceeded.'}
        />
      ))}
      <Line
        icon="server"
        title={`${count(plan.servers.leftOut + plan.servers.refused + plan.servers.alreadyMoved, 'server')} would stay`}
        words={
          <Link to="/admin/imports/{id}/servers" params={{ id: of.id }} query={{ state: 'refused' }}>
            {plan.servers.refused ? `${plan.servers.refused} cannot come, and why` : 'See all servers'}
          </Link>
        }
      />
    </ul>
  </Section>
)
const usedNow = ({ resource, used, more }: Plan['quotas'][number]) => {
  const { say } = quotaWords[resource as QuotaResource]
  return `${say(used)} now, ${say(more)} more by this import`
}
function quotaOf({ resource, used, more, limit }: Plan['quotas'][number]) {
  const { label, say } = quotaWords[resource as QuotaResource]
  return `${label} ${say(used + more)} of ${say(limit)}`
}
const named = (of: readonly { name: string }[]) =>
  list([
    ...of.slice(0, MOST_NAMED).map(({ name }) => name),
    ...(of.length > MOST_NAMED ? [`${of.length - MOST_NAMED} more`] : []),
  ])

type LineProps = {
  icon: 'location' | 'node' | 'package' | 'pool' | 'customers' | 'resellers' | 'server'
  title: string
  words: ComponentChildren
  /** The words for what is lacking. */
  short?: string | false
}
const Line = ({ icon, title, words, short }: LineProps) => (
  <li>
    <Icon name={icon} class={short ? 'warn' : 'muted'} />
    <div class="grow">
      <b>{title}</b>
      <small>{words}</small>
      {short && <small>{short}</small>}
    </div>
  </li>
)

/** All that was ever sent there. */
export const SentThere = ({ of: { sent, panel } }: { of: Import }) => (
  <Section id="sent" title={`Sent to ${panel}`}>
    <Facts
      of={[
        ['Requests', `${sent.requests.toLocaleString('en')}, all reads`],
        ['Longest', howLongMs(sent.longestMs)],
        ['Failed', sent.refused ? sent.refused.toLocaleString('en') : 'none'],
        ['Changed there', 'nothing'],
      ]}
    />
  </Section>
)
const howLongMs = (ms: number) => (ms < 1000 ? 'under 1 s' : `${(ms / 1000).toFixed(1)} s`)

const notImported = [
  ['camera', 'Snapshots and backups', 'Each panel keeps them in a form of its own'],
  ['shield', 'Firewall rules of the panel', 'Rules inside a server are on its disk'],
  ['lock', 'Passwords of customers', 'No panel tells them, and none is read'],
  ['server', 'Containers and Windows', 'They stay on the source'],
] as const
export const NotImported = () => (
  <Section id="not-imported" title="Not imported, and why">
    <Points of={notImported} />
  </Section>
)
