import type { ComponentChildren } from 'preact'
import { partWords } from '../../../src/fleet/nodes/model.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Note, Section } from '../../components/section.tsx'
import { Ago, For, Time } from '../../components/time.tsx'
import { count, list, sentence } from '../../components/words.ts'
import { AnnounceOnNode } from '../../platform/announcements/list.tsx'
import type { ShownNode } from './load.tsx'
import { UplinkWarnings } from './uplink.tsx'

/** A clock that is further off than this is worth a notice. */
const SKEW_SECONDS = 30

/** Reasons why the node is unfit to carry servers, in the node's own words. */
export const Warnings = ({ node: n }: { node: ShownNode }) => (
  <>
    <Away node={n} />
    {!n.open && !n.lostAt && (n.closedAt || n.closedReason) && (
      <Note level="info">
        <strong>
          Closed for new servers
          {n.closedAt && (
            <>
              {' '}
              <Time iso={n.closedAt} />
            </>
          )}
          .
        </strong>{' '}
        {n.closedReason}
      </Note>
    )}
    {n.awaited && !n.lostAt && (
      <Note level="bad">
        <strong>Orders wait for it.</strong> The database was restored, and it has not told since which addresses are in
        use on it. Until then the pools that it routes give no addresses.
      </Note>
    )}
    {n.silent.map(({ part, since, why }) => (
      <Note level="bad">
        <strong>
          Connected, but {partWords[part].name} has not answered <For iso={since} />.
        </strong>{' '}
        {partWords[part].effect} {partWords[part].remedy} <small class="muted">It says: {sentence(why)}</small>
      </Note>
    ))}
    {n.misconduct.map(({ level, what, effect, lastAt }) => (
      <Note level={level}>
        <strong>{what}</strong> {effect} Last <Time iso={lastAt} />.
      </Note>
    ))}
    {n.virtualisation.kind !== 'kvm' && !n.fake && (
      <Note level={n.virtualisation.kind === 'none' ? 'bad' : 'warn'}>
        <strong>
          {n.virtualisation.kind === 'none'
            ? 'It cannot run servers.'
            : 'It has no hardware virtualisation: its servers are slow.'}
        </strong>{' '}
        {n.virtualisation.reason}
      </Note>
    )}
    <ClockSkew ms={n.skewMs} />
    {n.agentOutdated && (
      <Note level="warn" action={<UpdateAgent of={n} />}>
        <strong>Its agent has version {n.agentVersion}.</strong> What it does not know is refused there until it is
        updated{n.agentUpdatedBy === 'package' && ' with apt'}
        {n.agentUpdatedBy !== 'package' && n.agentUpdatedBy !== 'itself' && ' by install.sh --agent'}.
      </Note>
    )}
    {n.pools.length === 0 && !n.lostAt && (
      <Note
        level="warn"
        action={
          <Link class="btn" to="/admin/ip-pools">
            Add address pool
          </Link>
        }
      >
        <strong>It has no address pool yet.</strong> It takes no orders for servers with addresses. Add a pool for it,
        or attach one.
      </Note>
    )}
    {!n.lostAt && <UplinkWarnings node={n} />}
    {n.facts.bridges.every((b) => b.name !== n.bridge) && (
      <Note level="bad">
        <strong>It has no bridge {n.bridge}.</strong> Servers cannot be installed there. Choose another bridge with
        Edit, or create it on the node.
      </Note>
    )}
  </>
)

function Away({ node: n }: { node: ShownNode }): ComponentChildren {
  if (n.lostAt)
    return (
      <Note level="bad">
        <strong>
          Declared lost <Time iso={n.lostAt} />.
        </strong>{' '}
        Its servers have failed: restore them elsewhere or terminate them, then remove the node. If the machine comes
        back, enroll it again.
      </Note>
    )
  if (n.credentialRevokedAt)
    return (
      <Note level="bad">
        <strong>
          Its credential was revoked <Time iso={n.credentialRevokedAt} />.
        </strong>{' '}
        Its servers keep running but cannot be changed. Choose Renew credential under More actions, and run the command
        on the node.
      </Note>
    )
  if (n.connected) return null
  return <NotConnected node={n} />
}

/** `44 servers and 2 GPU instances`, without those of which there is none. */
const workloadsOn = ({ servers, gpuInstances }: ShownNode): string => {
  const own = servers - gpuInstances
  return list([
    ...(own || !gpuInstances ? [count(own, 'server')] : []),
    ...(gpuInstances ? [count(gpuInstances, 'GPU instance')] : []),
  ])
}

/** The servers and customers that it concerns come first, then what to try on the machine. */
const NotConnected = ({ node: n }: { node: ShownNode }) => (
  <div class="sec">
    <section class="fail" aria-labelledby="away-t">
      <header>
        <Icon name="unplug" />
        <div>
          <h2 id="away-t">
            Not connected; last seen <Ago iso={n.seenAt} />
          </h2>
          <p>
            {n.servers > 0
              ? `${workloadsOn(n)} most likely ${n.servers === 1 ? 'runs' : 'run'} on there, but cannot be changed ` +
                'until it answers.'
              : 'It takes no servers meanwhile.'}
          </p>
        </div>
      </header>
      <dl>
        <div>
          <dt>Affected</dt>
          <dd>
            <b>
              {workloadsOn(n)}, {count(n.customers, 'customer')}
            </b>
          </dd>
        </div>
      </dl>
      {n.servers > 0 && (
        <div class="bar">
          <Affected node={n} />
        </div>
      )}
    </section>
  </div>
)

/** For a node that is away and neither lost nor without a credential. */
export const WhatToTry = ({ node: n }: { node: ShownNode }) =>
  n.connected || n.lostAt || n.credentialRevokedAt ? null : (
    <Section id="try" title="What to try, in this order">
      <ol class="steps do">
        <li>See whether the machine has power and reaches the network.</li>
        <li>
          <span>
            Run <code>systemctl status berth-agent</code> on it; without systemd{' '}
            <code>/usr/local/lib/berth/services status berth-agent</code>, with its log in{' '}
            <code>/var/log/berth/berth-agent.log</code>.
          </span>
          <small>Restarting the agent leaves its servers running.</small>
        </li>
        <li>
          Restart the machine.
          <small>Its servers restart with it.</small>
        </li>
      </ol>
    </Section>
  )

function ClockSkew({ ms }: { ms: number }) {
  const seconds = Math.round(Math.abs(ms) / 1000)
  if (seconds < SKEW_SECONDS) return null
  return (
    <Note level="warn">
      <strong>
        Its clock is {seconds} s {ms > 0 ? 'ahead' : 'behind'}.
      </strong>{' '}
      Set up time synchronisation on it.
    </Note>
  )
}

/** For support staff while a node is away: the servers with their owners, and words to them. */
const Affected = ({ node: n }: { node: ShownNode }) => (
  <>
    <a class="btn" href={`/api/v1/admin/servers.csv?nodeId=${n.id}`} download={`${n.name}.csv`}>
      Download list
    </a>
    <AnnounceOnNode node={n} />
  </>
)

const UpdateAgent = ({ of: { agentUpdatedBy } }: { of: ShownNode }) =>
  agentUpdatedBy === 'itself' ? (
    <Link class="btn" to="/admin/roll-outs">
      Roll-outs
    </Link>
  ) : null
