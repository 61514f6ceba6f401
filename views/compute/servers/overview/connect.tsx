// How a server is reached: the line to copy where it can work, and its addresses as its system has them.
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Command, Copyable, Facts, Section } from '../../../components/section.tsx'
import type { Server } from '../words.ts'

/** States in which nothing can answer, with the next step of those who have one. */
const silent: Partial<Record<Server['status'], string>> = {
  provisioning: 'It can be reached once it is installed.',
  pending_setup: 'It can be reached once it is set up.',
  stopped: 'It is stopped. Start it to connect.',
  failed: 'Its installation failed, so nothing answers.',
  suspended: 'It is suspended, so nothing answers.',
}

/** The addresses of a server, and the line that leads to it while something can answer there. */
export function Connect({ server: s }: { server: Server }) {
  const { actor } = useAt()
  if (s.status === 'terminated') return null
  return (
    <Section id="connect" title={s.status === 'suspended' ? 'Addresses' : 'Connect'}>
      <div class="stack">
        <Connection server={s} />
        <Facts
          pairs
          of={[
            ['IPv4', s.ipv4 === null && s.addresses.length > 0 ? 'None' : null],
            ...s.addresses.map((a) => [titleOf(a), <Address of={a} server={s} />] as const),
            ['MAC', actor.kind === 'staff' && <span class="mono">{s.mac}</span>],
          ]}
        />
      </div>
    </Section>
  )
}

/** The line to copy; where it cannot work, why. */
export const Connection = ({ server: s }: { server: Server }) => {
  const why = silent[s.status]
  if (why && !s.rescue) return s.status === 'suspended' ? null : <p class="muted">{why}</p>
  return (
    <>
      {s.sshCommand && <Command text={s.sshCommand} what="SSH command" />}
      {s.osFamily === 'windows' && !s.rescue && (
        <Facts
          pairs
          of={[
            ['Remote Desktop', <Copyable text={s.ipv4 ?? s.ipv6 ?? s.hostname} what="Remote Desktop address" />],
            ['User', s.user],
          ]}
        />
      )}
    </>
  )
}

type Held = Server['addresses'][number]
const kinds = { primary: '', extra: 'Extra ', floating: 'Floating ' } as const
const titleOf = ({ kind, version, prefixLength }: Held) =>
  `${kinds[kind]}IPv${version}${version === 6 && prefixLength < 128 ? ' network' : ''}`

/** One address, or the network that is routed to the server, with its gateway where it has one. */
const Address = ({ of: a, server: s }: { of: Held; server: Server }) => {
  const own = a.kind === 'primary' && a.version === 6 ? s.ipv6 : null
  return (
    <>
      <Copyable text={own ?? a.address} what={`${titleOf(a)} address`} />{' '}
      <span class="muted">
        {own !== null && own !== a.address ? `of ${a.address}/${a.prefixLength}` : `/${a.prefixLength}`}
        {a.gateway === null ? (
          ', routed, no gateway'
        ) : (
          <>
            , gateway <span class="mono">{a.gateway}</span>
          </>
        )}
      </span>
    </>
  )
}
