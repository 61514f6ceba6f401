// The API as this account has it: nothing is listed that the gate would not let it call.
import type { AssetName } from '../../../public/assets.ts'
import type { Code } from '../../../src/kernel/api/errors.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { codesOf } from '../../../src/kernel/openapi/openapi.ts'
import type { Registry } from '../../../src/kernel/registry.ts'
import { noPage, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { Filters } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'
import { Entry } from './entry.tsx'
import { ErrorTable } from './tables.tsx'

/** Groups of calls whose name is not their id. */
const names: Record<string, string> = {
  'ssh-keys': 'SSH keys',
  pools: 'Address pools',
  setup: 'First account',
  totp: 'Authenticator app',
  host: 'Controller host',
  'sign-in-links': 'Sign-in links',
  'sign-in-provider': 'Sign-in provider',
  reseller: 'As a reseller',
}
const groupOf = (op: Operation) => op.id.split('.')[0]!
const nameOf = (group: string) => names[group] ?? (group[0]!.toUpperCase() + group.slice(1)).replaceAll('-', ' ')

/** The codes that any call can return, whatever it does. */
const usualCodes = ({ operations }: Registry): ReadonlySet<Code> =>
  new Set(operations.flatMap((op) => codesOf({ ...op, refuses: [], on: undefined })))

/** Every word of the question stands somewhere in what the call is, does and refuses with. */
function matches(question: string): (op: Operation) => boolean {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean)
  return (op) => {
    const text = [op.id, op.method, op.path, op.summary, ...Object.values(op.access).flat(), ...(op.refuses ?? [])]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

/** So few that they are what was looked for: they are open. */
const FEW = 3
const MOST_CHARACTERS = 100

function Reference() {
  const at = useAt()
  const { operations, errors } = at.registry
  const usual = usualCodes(at.registry)
  const found = operations.filter(at.may).filter(matches((at.query['q'] ?? '').slice(0, MOST_CHARACTERS)))
  return (
    <>
      <ReferenceHead />
      <Filters of={[{ name: 'q', label: 'Search calls', placeholder: 'Path, word, scope or code' }]}>
        <span class="muted" role="status">
          {count(found.length, 'call')}
        </span>
      </Filters>
      {[...Map.groupBy(found, groupOf)].map(([group, calls]) => (
        <Section id={`group-${group}`} title={nameOf(group)} count={count(calls.length, 'call')}>
          {/* Safari takes the role from a list without bullets. */}
          {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
          <ul role="list" class="ops">
            {calls.map((op) => (
              <Entry op={op} usual={usual} open={found.length <= FEW} />
            ))}
          </ul>
        </Section>
      ))}
      {found.length === 0 && <NoCalls />}
      <Section id="usual" title="Errors that any call can return" flush>
        <ErrorTable codes={[...usual].toSorted((a, b) => errors[a].status - errors[b].status)} />
      </Section>
    </>
  )
}

const ReferenceHead = () => (
  <Head
    title="API reference"
    sub={
      <span>
        What this account can call, at{' '}
        <code>
          {useAt().origin}
          {API_ROOT}
        </code>
        . In the curl commands, <code>$TOKEN</code> is <a href="/account/api">one of your tokens</a>.
      </span>
    }
    actions={
      <a class="btn" href={`${API_ROOT}/openapi.json`}>
        OpenAPI document
      </a>
    }
  />
)

const NoCalls = () => (
  <Empty
    action={
      <a class="btn" href={useAt().path}>
        Show all
      </a>
    }
  >
    No calls match. The search looks at paths, summaries, scopes and error codes.
  </Empty>
)

const reference = { reads: {}, title: 'API reference', nav: 'reference', files: ['try.mjs'] satisfies AssetName[] }

export const referencePage = page({
  ...reference,
  path: '/admin/api/reference',
  view: ({ at }) => {
    if (at.actor.kind !== 'staff') throw noPage()
    return <Reference />
  },
})

/** For everybody who is signed in; the API's own 404 leads here. */
export const ownReferencePage = page({ ...reference, path: '/api-reference', view: () => <Reference /> })
