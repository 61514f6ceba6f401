// One call of the API: what it needs, how it is called, what it takes, what it refuses with, and a form that tries it.
import { isScope, type Permission, type Scope } from '../../../src/kernel/api/access.ts'
import type { Actor } from '../../../src/kernel/api/actor.ts'
import type { Code } from '../../../src/kernel/api/errors.ts'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import { needsPerson, type Operation, queryOf } from '../../../src/kernel/api/operation.ts'
import { codesOf } from '../../../src/kernel/openapi/openapi.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Field } from '../../components/field.tsx'
import { Facts } from '../../components/section.tsx'
import { curlFor } from './curl.ts'
import { fieldRows } from './fields.ts'
import { BodyTable, ErrorTable, QueryTable } from './tables.tsx'

type OpProps = { op: Operation }
type EntryProps = OpProps & {
  /** The codes that any call can return: they are listed once, at the end of the page. */
  usual: ReadonlySet<Code>
  open: boolean
}

export const Entry = ({ op, usual, open }: EntryProps) => (
  <li id={op.id}>
    <details open={open}>
      <summary>
        <strong class="mono">{op.method}</strong> <code>{op.path}</code> <span class="muted">{op.summary}</span>
      </summary>
      <div class="open">
        <Details op={op} />
        <Curl op={op} />
        <Tables op={op} usual={usual} />
        <TryIt op={op} />
      </div>
    </details>
  </li>
)

const Details = ({ op }: OpProps) => (
  <Facts
    of={[
      ['Operation', <code>{op.id}</code>],
      ['Requires', <Requires op={op} />],
      ['Response', `${op.status ?? 200}${op.produces ? `, as ${op.produces}` : ''}`],
      [
        'Idempotency',
        op.idempotent && (
          <>
            Repeated within 24 hours with the same <code>Idempotency-Key</code>, the call returns the same response.
          </>
        ),
      ],
    ]}
  />
)

const rightsOf = (op: Operation, actor: Actor): readonly (Scope | Permission)[] =>
  op.access === 'anyone' ? [] : (op.access[actor.kind] ?? [])

function Requires({ op }: OpProps) {
  const { actor } = useAt()
  if (op.access === 'anyone') return <>Nothing: it is open to anyone.</>
  const rights = rightsOf(op, actor)
  return (
    <>
      {op.requiresSession && 'A person who is signed in; tokens cannot call it. '}
      {rights.length > 1 && 'One of:'}
      <ul class="will">
        {rights.map((name) => (
          <Right name={name} />
        ))}
      </ul>
    </>
  )
}

function Right({ name }: { name: Scope | Permission }) {
  const { scopes, permissions } = useAt().registry
  return isScope(name) ? (
    <li>
      {scopes[name].words} <code>{name}</code>
    </li>
  ) : (
    <li>{permissions[name].words}, a staff permission; tokens do not have it</li>
  )
}

/** Nothing for calls that a token cannot make. */
function Curl({ op }: OpProps) {
  const { actor, origin } = useAt()
  if (op.access !== 'anyone' && needsPerson(op, actor.kind)) return null
  const curl = curlFor(op, origin)
  return (
    <div class="bar">
      <pre class="secret grow">{curl}</pre>
      <button type="button" class="btn" data-copy={curl}>
        Copy<span class="sr"> the curl command of {op.id}</span>
      </button>
    </div>
  )
}

function Tables({ op, usual }: OpProps & { usual: ReadonlySet<Code> }) {
  const { registry } = useAt()
  const rows = fieldRows(registry.complete(op.body))
  const query = Object.entries(registry.complete(queryOf(op)))
  const own = codesOf(op).filter((code) => !usual.has(code))
  return (
    <>
      {rows.length > 0 && <BodyTable rows={rows} />}
      {query.length > 0 && <QueryTable parameters={query} />}
      {own.length > 0 && <ErrorTable codes={own} />}
    </>
  )
}

/** Calls it from the page, with the rights of the reader; public/panel/calls/try.js shows the response under it. */
function TryIt({ op }: OpProps) {
  // A file is nothing to look at on a page.
  if (op.method !== 'GET' || op.produces) return null
  const ids = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const parameters = Object.keys(queryOf(op))
  return (
    <form class="try" data-try={API_ROOT + op.path}>
      {ids.length + parameters.length > 0 && (
        <div class="cols s">
          {ids.map((name) => (
            <Field scope={op.id} name={name} label={`${name} of the ${op.on?.name ?? 'object'}`} required mono />
          ))}
          {parameters.map((name) => (
            <Field scope={op.id} name={name} label={name} />
          ))}
        </div>
      )}
      <div class="bar">
        <button class="btn">
          Try it<span class="sr"> ({op.id})</span>
        </button>
        <span class="muted">Runs it now, as you.</span>
      </div>
      <pre class="answer" role="status" tabindex={0} aria-label={`Response of ${op.id}`} hidden />
    </form>
  )
}
