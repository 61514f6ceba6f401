// The API as this account has it: nothing is listed that the gate would not let it call.
import type { AssetName } from '../../../public/assets.ts'
import type { Code } from '../../../src/kernel/api/errors.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { codesOf } from '../../../src/kernel/openapi/openapi.ts'
import type { Registry } from '../../../src/kernel/registry.ts'
import { type At, noPage, page } from '../../../src/kernel/web/page.ts'
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
  'floating-ips': 'Floating addresses',
  setup: 'First account',
  totp: 'Authenticator app',
  host: 'Controller host',
  'sign-in-links': 'Sign-in links',
  'sign-in-provider': 'Sign-in provider',
  reseller: 'As a reseller',
}
const groupOf = (op: Operation) => op.id.split('.')[0]!
const spelled: Record<string, string> = { gpu: 'GPU', gpus: 'GPUs', cpu: 'CPU', dns: 'DNS', isos: 'ISOs' }
function nameOf(group: string): string {
  const words = group.split('-').map((word) => spelled[word] ?? word)
  const [first, ...more] = words as [string, ...string[]]
  return names[group] ?? [first[0]!.toUpperCase() + first.slice(1), ...more].join(' ')
}

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

/** Where the calls of a group stand: below the reader's own reference. */
const addressOf = (top: string, group: string) => `${top}/${group}`

/** Answers the calls that this reader may make. */
function useCalls() {
  const at = useAt()
  return at.registry.operations.filter(at.may)
}

function Reference() {
  const at = useAt()
  const question = (at.query['q'] ?? '').slice(0, MOST_CHARACTERS)
  const found = useCalls().filter(matches(question))
  const groups = [...Map.groupBy(found, groupOf)].toSorted(([a], [b]) => nameOf(a).localeCompare(nameOf(b)))
  return (
    <>
      <ReferenceHead />
      <Filters of={[{ name: 'q', label: 'Search calls', placeholder: 'Path, word, scope or code' }]}>
        <span class="muted" role="status">
          {count(found.length, 'call')}
        </span>
      </Filters>
      {question ? (
        groups.map(([group, calls]) => (
          <Section
            id={`group-${group}`}
            title={<a href={addressOf(at.path, group)}>{nameOf(group)}</a>}
            count={count(calls.length, 'call')}
          >
            {found.length <= FEW ? <Entries of={calls} open /> : <Lines of={calls} top={at.path} />}
          </Section>
        ))
      ) : (
        <Groups of={groups} top={at.path} />
      )}
      {found.length === 0 && <NoCalls />}
      {!question && <UsualErrors />}
    </>
  )
}

type GroupsProps = { of: readonly (readonly [group: string, calls: readonly Operation[]])[]; top: string }
const Groups = ({ of: groups, top }: GroupsProps) => (
  <Section id="groups" title="Groups of calls" quiet first>
    {/* Safari takes the role from a list without bullets. */}
    {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
    <ul role="list" class="cols s">
      {groups.map(([group, calls]) => (
        <li>
          <a href={addressOf(top, group)}>{nameOf(group)}</a> <span class="muted">{count(calls.length, 'call')}</span>
        </li>
      ))}
    </ul>
  </Section>
)

type CallsProps = { of: readonly Operation[] }
/** Each call on a line that leads to it. */
const Lines = ({ of: calls, top }: CallsProps & { top: string }) => (
  // Safari takes the role from a list without bullets.
  // biome-ignore lint/a11y/noRedundantRoles: see above
  <ul role="list" class="ops">
    {calls.map((op) => (
      <li id={op.id}>
        <a href={`${addressOf(top, groupOf(op))}#${op.id}`}>
          <strong class="mono">{op.method}</strong> <code>{op.path}</code>
        </a>{' '}
        <span class="muted">{op.summary}</span>
      </li>
    ))}
  </ul>
)

function Entries({ of: calls, open }: CallsProps & { open: boolean }) {
  const usual = usualCodes(useAt().registry)
  return (
    // biome-ignore lint/a11y/noRedundantRoles: as above
    <ul role="list" class="ops">
      {calls.map((op) => (
        <Entry op={op} usual={usual} open={open} />
      ))}
    </ul>
  )
}

function UsualErrors() {
  const { registry } = useAt()
  const codes = [...usualCodes(registry)].toSorted((a, b) => registry.errors[a].status - registry.errors[b].status)
  return (
    <Section id="usual" title="Errors that any call can return" flush>
      <ErrorTable codes={codes} />
    </Section>
  )
}

/** One group with all that is to say of its calls. Throws `not_found` where the reader may call none of it. */
function Group() {
  const at = useAt()
  const group = at.params['group']!
  const calls = useCalls().filter((op) => groupOf(op) === group)
  if (!calls.length) throw noPage()
  const top = at.path.slice(0, -group.length - 1)
  return (
    <>
      <Head
        title={nameOf(group)}
        trail={[['API reference', top]]}
        sub={
          <>
            <span>{count(calls.length, 'call')}</span>
            <a href={`${top}#usual`}>Errors that any call can return</a>
          </>
        }
      />
      <Section id="calls" title="Calls" quiet first>
        <Entries of={calls} open={calls.length <= FEW} />
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

/** Throws `not_found` where the reader is no staff. */
function staffOnly({ actor }: At) {
  if (actor.kind !== 'staff') throw noPage()
}

/** For everybody who is signed in at `/api-reference`, where the API's own 404 leads; for staff also in their area. */
export const referencePages = [
  page({ ...reference, path: '/api-reference', view: () => <Reference /> }),
  page({ ...reference, path: '/api-reference/{group}', view: () => <Group /> }),
  page({
    ...reference,
    path: '/admin/api/reference',
    view: ({ at }) => {
      staffOnly(at)
      return <Reference />
    },
  }),
  page({
    ...reference,
    path: '/admin/api/reference/{group}',
    view: ({ at }) => {
      staffOnly(at)
      return <Group />
    },
  }),
]
