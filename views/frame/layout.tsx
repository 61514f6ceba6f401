// The document around every page: head, top bar, navigation, and the places where messages appear.
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../public/assets.ts'
import { areas, homeOf } from '../../src/identity/account-records/areas.ts'
import { closeSupport } from '../../src/identity/auth/sessions/support-session.ts'
import { listNotices } from '../../src/identity/notices/notices.ts'
import { iso } from '../../src/kernel/db/clock.ts'
import type { Html } from '../../src/kernel/web/html.ts'
import { actionsOf } from '../../src/kernel/web/navigation.ts'
import { type Answers, ifAllowed } from '../../src/kernel/web/page.ts'
import { useAt, usePageContext } from '../../src/kernel/web/page-context.ts'
import type { Frame } from '../../src/kernel/web/site.ts'
import { listJobs } from '../../src/platform/jobs/jobs.ts'
import { listNavigationMarks } from '../../src/platform/overview/navigation-marks.ts'
import { brandCssUrl, logoUrl } from '../../src/platform/settings/brand-style.ts'
import { Action } from '../components/action.tsx'
import { Icon } from '../components/icon.tsx'
import { Note } from '../components/section.tsx'
import { Time } from '../components/time.tsx'
import { ShortcutsDialog } from '../platform/documents/shortcuts.tsx'
import { Palette, SearchButton } from '../platform/search/search-page.tsx'
import { SecretOnce } from './shown-once.tsx'
import { AccountMenu, Navigation, NavMarks } from './side-navigation.tsx'

/** The reads of the frame around every page. */
export const always = {
  running: ifAllowed(listJobs, () => ({ query: { state: 'running', limit: '1' } })),
  marks: ifAllowed(listNavigationMarks, () => ({})),
  unread: ifAllowed(listNotices, () => ({ query: { unread: 'true', limit: '1' } })),
}
type Always = Partial<Answers<typeof always>>

export const layout = (frame: Frame<Always>): Html => <Document {...frame} />
/** Sent beside a live part of the page. */
export const beside = ({ always }: Frame<Always>): Html => (
  <>
    <RunningJobs total={always.running?.total} />
    <UnreadNotices of={always.unread} />
    {always.marks && <NavMarks marks={always.marks.marks} />}
  </>
)
export const isRunning = (always: Always): boolean => (always.running?.total ?? 0) > 0

function Document({ title, body, page, at, nonce, always }: Frame<Always>) {
  const signedIn = at.actor.accountId !== '' && !page?.open
  const preferences = at.uiPreferences && {
    'data-theme': at.uiPreferences.theme,
    'data-density': at.uiPreferences.density,
    'data-shortcuts': at.uiPreferences.shortcuts,
    'data-zone': at.uiPreferences.timeZone ?? undefined,
  }
  return (
    <html
      lang="en"
      data-now={at.now}
      data-area={signedIn ? areas[at.actor.kind] : undefined}
      data-account={signedIn ? at.actor.accountId : undefined}
      {...preferences}
    >
      <DocumentHead title={title} nonce={nonce} files={page?.files ?? []} />
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        {signedIn ? (
          <App nav={page?.nav} always={always}>
            {body}
          </App>
        ) : (
          <SignedOut>{body}</SignedOut>
        )}
        <div id="offline" class="offline" role="status" hidden>
          {`${at.brand.name} is not responding. This page may be out of date; it keeps trying.`}
        </div>
        <div id="toasts" role="status" aria-live="polite" />
        {signedIn && <Dialogs />}
      </body>
    </html>
  )
}

function DocumentHead({ title, nonce, files }: { title: string; nonce: string; files: readonly string[] }) {
  const { at, asset } = usePageContext()
  const file = (name: AssetName) => asset(name)
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <title>{`${title} · ${at.brand.name}`}</title>
      <meta name="color-scheme" content="light dark" />
      <meta name="csrf-token" content={at.csrf} />
      <meta name="robots" content="noindex" />
      <link rel="preload" href={file('inter.woff2')} as="font" type="font/woff2" crossorigin="anonymous" />
      <link rel="stylesheet" href={file('panel.css')} />
      {at.brand.accent && <link rel="stylesheet" href={brandCssUrl(at.brand.accent)} />}
      <link rel="icon" type="image/svg+xml" href={file('mark.svg')} />
      <script defer nonce={nonce} src={file('htmx.js')} />
      <script type="module" nonce={nonce} src={file('panel.js')} />
      {files.map((name) =>
        name.endsWith('.css') ? (
          <link rel="stylesheet" href={asset(name)} />
        ) : (
          <script {...(name.endsWith('.mjs') ? { type: 'module' } : { defer: true })} nonce={nonce} src={asset(name)} />
        ),
      )}
    </head>
  )
}

type AppProps = { nav: string | undefined; always: Always; children: ComponentChildren }
const App = ({ nav, always, children }: AppProps) => (
  <div class="app">
    <header class="top">
      <button type="button" class="btn bare ico menu-btn" aria-controls="nav" aria-expanded="false" aria-label="Menu">
        <Icon name="menu" />
      </button>
      <Mark href={homeOf(useAt().actor.kind)} />
      <SearchButton />
      <span class="grow" />
      <RunningJobs total={always.running?.total} />
      <UnreadNotices of={always.unread} />
      <AccountMenu current={nav} />
    </header>
    <Navigation current={nav} marks={always.marks?.marks} />
    <main id="main" tabIndex={-1}>
      <WithoutScript />
      <Banners />
      {children}
    </main>
  </div>
)

/** Buttons that open a dialog do nothing without script, so the page says why. */
const WithoutScript = () => (
  <noscript>
    <Note level="info">
      <strong>JavaScript is off.</strong> You can sign in and read pages. Every other button needs it.
    </Note>
  </noscript>
)

/** Pages before there is a session: the company's own mark, and chart lines beside the form. */
const SignedOut = ({ children }: { children: ComponentChildren }) => (
  <div class="sign-in">
    <main id="main" tabIndex={-1}>
      <Mark href="/" />
      <div class="stack l" id="sign-in">
        {children}
        <WithoutScript />
      </div>
      <SupportFooter />
    </main>
    <aside aria-hidden="true">
      <svg viewBox="0 0 720 900" preserveAspectRatio="xMidYMid slice">
        <use href={`${usePageContext().asset('sign-in.svg' satisfies AssetName)}#chart`} />
      </svg>
    </aside>
  </div>
)

function SupportFooter() {
  const { support } = useAt().brand
  return support ? (
    <footer>
      <a href={support}>Contact support</a>
    </footer>
  ) : null
}

function Mark({ href }: { href: string }) {
  const { brand } = useAt()
  return (
    <a class="mark" href={href}>
      {brand.logo ? (
        <img src={logoUrl(brand.logo)} alt={brand.name} />
      ) : (
        <>
          <Icon name="anchor" />
          <span>{brand.name}</span>
        </>
      )}
    </a>
  )
}

/** How many jobs are running. Every answer that holds a newer one puts it in its place. */
function RunningJobs({ total }: { total: number | undefined }) {
  const area = areas[useAt().actor.kind]
  if (total === undefined) return null
  return (
    <a class="running" id="running" href={`${area}/jobs?state=running`} hx-swap-oob="outerMorph" hidden={total === 0}>
      <Icon name="work" />
      {total.toLocaleString('en')} <span class="t">{total === 1 ? 'job running' : 'jobs running'}</span>
    </a>
  )
}

/**
 * The way to the notices, with the number of unread ones, in red while one is about an outage. Every answer that holds
 * a newer one puts it in its place.
 */
function UnreadNotices({ of }: { of: Always['unread'] }) {
  if (!of) return null
  const { total, outages } = of
  return (
    <a class={`btn bare${total ? '' : ' ico'}`} id="unread" href="/account/notifications" hx-swap-oob="outerMorph">
      <Icon name="bell" />
      <span class="sr">Notices</span>
      {total > 0 && (
        <b class={outages > 0 ? 'st tag bad' : undefined}>
          {total > 99 ? '99+' : total}
          <span class="sr"> unread{outages > 0 && `, ${outages} about an outage`}</span>
        </b>
      )}
    </a>
  )
}

/** Never to be overlooked: a support session with its end and the way out, and nodes that enroll without encryption. */
function Banners() {
  const at = useAt()
  const { via } = at.actor
  return (
    <>
      {via.type === 'support' && (
        <div id="support">
          <Note
            level="warn"
            action={
              <Action
                op={closeSupport}
                label="End session"
                icon="out"
                leadsTo={`/admin/customers/${at.actor.accountId}`}
                small
              />
            }
          >
            <strong>Support session.</strong> You, {via.staffName}, are in the account of{' '}
            <strong>{at.actor.name}</strong>. The audit log names both of you for what you do. It ends{' '}
            <Time iso={iso(via.until)} />.
          </Note>
        </div>
      )}
      {at.insecure && at.actor.kind === 'staff' && (
        <Note level="warn">
          <strong>Nodes may enroll over plain HTTP.</strong> PANEL_AGENT_INSECURE is set. For test setups only.
        </Note>
      )}
    </>
  )
}

const Dialogs = () => (
  <>
    <SecretOnce />
    {useAt().path !== '/search' && <ActionsPalette />}
    <ShortcutsDialog />
    <dialog id="confirm" aria-labelledby="confirm-t" />
    <dialog id="again" aria-labelledby="again-t">
      <div class="stack">
        <div>
          <h2 id="again-t">Your session has ended</h2>
          <p class="muted">Sign in to continue. What you typed is kept.</p>
        </div>
        <div id="again-in" class="stack" />
      </div>
    </dialog>
  </>
)

function ActionsPalette() {
  const at = useAt()
  return <Palette actions={actionsOf(at.registry, at.actor).filter((a) => at.leads(a.href))} />
}
