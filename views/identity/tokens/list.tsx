// The own API tokens: the scopes of each, its last use, and its end.
import { TOKEN_WARNING_MS } from '../../../src/identity/tokens/attention.ts'
import { listTokens } from '../../../src/identity/tokens/tokens.ts'
import type { Scope } from '../../../src/kernel/api/access.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import { RevokeToken, RotateToken } from './actions.tsx'
import { CreateToken } from './create.tsx'

type Token = Answers<{ t: typeof listTokens }>['t']['data'][number]

export const tokensPage = page({
  path: '/account/api',
  reads: { tokens: listTokens },
  title: 'API tokens',
  nav: 'tokens',
  view: ({ tokens }) => (
    <>
      <Head
        title="API tokens"
        actions={<CreateToken />}
        sub={<p>A token lets a program act in your name, within its scopes and never beyond your own permissions.</p>}
      />
      <Section id="tokens" title="API tokens" quiet flush first>
        <List
          of={tokens}
          noun="token"
          empty={<Empty title="No tokens yet">A program needs one to call the API in your name.</Empty>}
        >
          <TokenTable tokens={tokens.data} />
        </List>
      </Section>
    </>
  ),
})

const TokenTable = ({ tokens }: { tokens: readonly Token[] }) => (
  <Table
    label="API tokens"
    rows={tokens}
    idOf={(k) => k.id}
    columns={[
      {
        title: 'Token',
        kind: 'name',
        width: 22,
        cell: (k) => (
          <>
            <b title={k.name}>{k.name}</b>
            <small class="mono">pnl_…{k.ending}</small>
          </>
        ),
      },
      { title: 'Scopes', kind: 'wide', cell: (k) => <Scopes of={k} /> },
      { title: 'Last used', kind: 'addr', width: 14, cell: (k) => <LastUse of={k} /> },
      { title: 'Expires', kind: 'wide', width: 15, cell: (k) => <Expiry of={k} /> },
      { title: 'Allowed from', kind: 'mid', width: 15, cell: (k) => <Allowed of={k} /> },
      { title: 'Created', kind: 'lo', width: 10, cell: (k) => <Time iso={k.createdAt} /> },
      {
        title: 'Actions',
        kind: 'more',
        cell: (k) => (
          <Menu label={`Actions for ${k.name}`} small>
            <RotateToken of={k} />
            <RevokeToken of={k} />
          </Menu>
        ),
      },
    ]}
  />
)

/** A scope that the account itself has lost since has no effect, and says so. */
function Scopes({ of: k }: { of: Token }) {
  const { actor } = useAt()
  return <ScopeList of={k} has={(name) => (actor.scopes as ReadonlySet<string>).has(name)} />
}

type ScopeListProps = { of: Pick<Token, 'id' | 'name' | 'scopes'>; has?: (scope: string) => boolean }
/** The scopes of a token in words, behind their number. `has`: does the token's account have it? */
export function ScopeList({ of: k, has = () => true }: ScopeListProps) {
  const { registry } = useAt()
  return (
    <details class="row" id={`scopes-${k.id}`}>
      <summary>
        {count(k.scopes.length, 'scope')}
        <span class="sr"> of {k.name}</span>
      </summary>
      <ul class="will">
        {k.scopes.map((name) => (
          <li>
            {registry.scopes[name as Scope]?.words ?? name}
            {!has(name) && <strong> (no effect: your account has lost it)</strong>}
          </li>
        ))}
      </ul>
    </details>
  )
}

export const LastUse = ({ of: k }: { of: Pick<Token, 'usedAt' | 'usedFrom'> }) =>
  k.usedAt ? (
    <>
      <Time iso={k.usedAt} />
      <small class="mono">from {k.usedFrom}</small>
    </>
  ) : (
    <span class="muted">Never used</span>
  )

const Allowed = ({ of: { allow } }: { of: Token }) =>
  allow.length > 0 ? (
    <span class="mono" title={allow.join(' ')}>
      {allow.join(' ')}
    </span>
  ) : (
    'Anywhere'
  )

const Expiry = ({ of: k }: { of: Token }) => (
  <>
    <ExpiryTime expiresAt={k.expiresAt} />
    {k.previousUntil && (
      <small>
        old value ends <Time iso={k.previousUntil} />
      </small>
    )}
  </>
)

export function ExpiryTime({ expiresAt }: { expiresAt: string | null }) {
  const { now } = useAt()
  if (expiresAt === null) return 'Never'
  const left = Date.parse(expiresAt) - now
  if (left <= 0)
    return (
      <State tone="bad" shape="fail">
        Expired
      </State>
    )
  return left < TOKEN_WARNING_MS ? (
    <State tone="warn" shape="wait">
      <Time iso={expiresAt} />
    </State>
  ) : (
    <Time iso={expiresAt} />
  )
}
