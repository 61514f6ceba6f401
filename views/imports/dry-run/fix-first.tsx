// Findings that a person can mend, with the next step of each.
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { addressWith } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import type { Import } from '../imports/words.tsx'
import type { DryRun } from './words.ts'

type Finding = DryRun['findings'][number]
/** Findings that end with a log-in. */
const ofAccess: ReadonlySet<string> = new Set(['no_login', 'host_key_changed', 'hypervisor_unreachable', 'ssh_too_old'])

export function FixFirst({ of, dryRun }: { of: Import; dryRun: DryRun }) {
  const found = dryRun.findings.filter(({ level }) => level === 'to_fix')
  if (!found.length) return null
  return (
    <Section id="fix" title="Fix first" count="then run it again: what you decided is kept" flush>
      <ul class="rows wrap">
        {found.map((one) => (
          <li>
            <Icon name={ofAccess.has(one.code) ? 'key' : 'warning'} class="bad" />
            <div class="grow">
              <b>{`${count(one.servers, 'server')}: ${one.words}`}</b>
              <small>{one.remedy}</small>
            </div>
            <Way of={of} finding={one} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Way({ of, finding: { code, servers } }: { of: Import; finding: Finding }) {
  const at = useAt()
  return (
    <>
      {ofAccess.has(code) && (
        <Link class="btn s pri" to="/admin/imports/{id}/access" params={{ id: of.id }}>
          Node access
        </Link>
      )}
      {code === 'undecided' && (
        <Link class="btn s pri" to="/admin/imports/{id}" params={{ id: of.id }}>
          Decide
        </Link>
      )}
      <a
        class="btn s"
        href={addressWith(at, { finding: code, result: null, state: null })}
        aria-label={`Show the ${servers}: ${code}`}
      >
        {`Show the ${servers.toLocaleString('en')}`}
      </a>
    </>
  )
}
