// The document around every page: head, top bar, navigation, and the places where messages appear.

import { listImages } from '../src/catalog/images/images.ts'
import { listPackages } from '../src/catalog/packages/packages.ts'
import { listAllServers, listServers } from '../src/compute/servers/list.ts'
import { listLocations } from '../src/fleet/locations/locations.ts'
import { listNodes } from '../src/fleet/nodes/nodes.ts'
import { listCustomers } from '../src/identity/accounts/customers.ts'
import { getOwnAccount } from '../src/identity/accounts/own-account.ts'
import { listStaff } from '../src/identity/accounts/staff/staff.ts'
import { getSecondFactor } from '../src/identity/auth/second-factors/second-factors.ts'
import { signOut } from '../src/identity/auth/sign-in.ts'
import { closeSupport } from '../src/identity/auth/support-session.ts'
import { getResellerAccount, listResellerCustomers } from '../src/identity/resellers/own.ts'
import { listResellers } from '../src/identity/resellers/resellers.ts'
import { listSshKeys } from '../src/identity/ssh-keys/ssh-keys.ts'
import { listTeam } from '../src/identity/team/members.ts'
import { listTokens } from '../src/identity/tokens/tokens.ts'
import { type AccountKind, areas, homeOf } from '../src/kernel/api/access.ts'
import type { Actor } from '../src/kernel/api/actor.ts'
import { type AppContext, mayCall, type Operation } from '../src/kernel/api/operation.ts'
import { iso } from '../src/kernel/db/clock.ts'
import { brandCssUrl, logoUrl } from '../src/kernel/web/brand.ts'
import { Html, html } from '../src/kernel/web/html.ts'
import { navGroups } from '../src/kernel/web/navigation.ts'
import { type Answers, type At, ifAllowed } from '../src/kernel/web/page.ts'
import type { Frame } from '../src/kernel/web/serve-pages.ts'
import { listPools } from '../src/network/ip-pools/pools.ts'
import { listAllAnnouncements } from '../src/platform/announcements/announcements.ts'
import { listActivity } from '../src/platform/audit/activity.ts'
import { listAudit } from '../src/platform/audit/audit.ts'
import { getPanelHost } from '../src/platform/host/panel-host.ts'
import { listJobs } from '../src/platform/jobs/jobs.ts'
import { getOverview } from '../src/platform/overview/overview.ts'
import { getOwnOverview } from '../src/platform/overview/own-overview.ts'
import { resellerBranding } from '../src/platform/settings/branding.ts'
import { getMail } from '../src/platform/settings/mail.ts'
import { actionsOf } from './actions.ts'
import { act } from './components/act.ts'
import { notice } from './components/card.ts'
import { type IconName, icon } from './components/icon.ts'
import { secretOnce } from './components/secret.ts'
import { time } from './components/time.ts'
import { palette, searchButton } from './platform/search/search.ts'

type Entry = { name: string; title: string; href: string; shape: IconName; sees: Operation }
const entry = (name: string, title: string, href: string, shape: IconName, sees: Operation): Entry => ({
  name,
  title,
  href,
  shape,
  sees,
})

/** For every kind of account: how it is signed in to, what was done in its name, its tokens, and what it may call with them. */
const apiEntries = (reference: string): Entry[] => [
  entry('security', 'Security', '/account/security', 'check', getSecondFactor),
  entry('activity', 'Activity', '/account/activity', 'clock', listActivity),
  entry('tokens', 'API tokens', '/account/api', 'key', listTokens),
  entry('reference', 'API reference', reference, 'info', listTokens),
]

const account = entry('account', 'Account', '/account', 'customers', getOwnAccount)

/** `name` is what a page gives as `nav`. An entry shows to who may read what is behind it. */
const staffEntries: readonly (readonly [string, readonly Entry[]])[] = [
  [
    '',
    [
      entry('overview', 'Overview', '/admin', 'overview', getOverview),
      entry('servers', 'Servers', '/admin/servers', 'server', listAllServers),
      entry('customers', 'Customers', '/admin/customers', 'customers', listCustomers),
      entry('resellers', 'Resellers', '/admin/resellers', 'customers', listResellers),
      entry('jobs', 'Jobs', '/admin/jobs', 'jobs', listJobs),
    ],
  ],
  [
    'Infrastructure',
    [
      entry('nodes', 'Nodes', '/admin/nodes', 'node', listNodes),
      entry('locations', 'Locations', '/admin/node-groups', 'location', listLocations),
      entry('pools', 'Address pools', '/admin/ip-pools', 'pool', listPools),
      entry('images', 'Images', '/admin/images', 'image', listImages),
      entry('packages', 'Packages', '/admin/packages', 'package', listPackages),
    ],
  ],
  [
    'Platform',
    [
      entry('controller', 'Controller host', '/admin/controller', 'anchor', getPanelHost),
      entry('staff', 'Staff', '/admin/staff', 'customers', listStaff),
      entry('audit', 'Audit log', '/admin/audit', 'audit', listAudit),
      entry('announcements', 'Announcements', '/admin/announcements', 'notice', listAllAnnouncements),
      entry('settings', 'Settings', '/admin/settings', 'settings', getMail),
    ],
  ],
  ['Account', [account, ...apiEntries('/admin/api/reference')]],
]
const team = entry('team', 'Team', '/team', 'customers', listTeam)
/** Of whoever can own servers. */
const ownAccount: readonly Entry[] = [
  account,
  entry('keys', 'SSH keys', '/account/ssh-keys', 'key', listSshKeys),
  ...apiEntries('/api-reference'),
]
const resellerEntries: typeof staffEntries = [
  [
    '',
    [
      entry('overview', 'Overview', '/reseller', 'overview', getResellerAccount),
      entry('servers', 'Servers', '/reseller/servers', 'server', listServers),
      entry('customers', 'Customers', '/reseller/customers', 'customers', listResellerCustomers),
      entry('jobs', 'Jobs', '/reseller/jobs', 'jobs', listJobs),
      entry('packages', 'Packages', '/reseller/packages', 'package', getResellerAccount),
    ],
  ],
  [
    'Account',
    [team, entry('branding', 'Branding', '/reseller/branding', 'brand', resellerBranding.get), ...ownAccount],
  ],
]
const ownEntries: typeof staffEntries = [
  [
    '',
    [
      entry('overview', 'Overview', '/', 'overview', getOwnOverview),
      entry('servers', 'Servers', '/servers', 'server', listServers),
      entry('jobs', 'Jobs', '/jobs', 'jobs', listJobs),
      team,
    ],
  ],
  ['Account', ownAccount],
]
const entriesOf = (kind: AccountKind) =>
  ({ staff: staffEntries, reseller: resellerEntries, customer: ownEntries })[kind]

/** For the search: what the navigation shows this actor, and what they can do. */
export const navItems = (actor: Actor): ReturnType<AppContext['navItems']> => [
  ...entriesOf(actor.kind).flatMap(([, entries]) =>
    entries.filter((e) => mayCall(e.sees, actor)).map(({ title, href }) => ({ type: 'page' as const, title, href })),
  ),
  ...actionsOf(actor),
]

/** The groups that features declare themselves. */
const declared = ({ registry, actor }: At): typeof staffEntries =>
  navGroups(registry, actor.kind).map(
    ([title, entries]) => [title, entries.map((e) => ({ ...e, shape: e.icon as IconName }))] as const,
  )

function navigation(at: At, current: string | undefined): Html {
  return html`<nav class="side" id="nav" aria-label="Main">${[...entriesOf(at.actor.kind), ...declared(at)].map(
    ([title, entries]) => {
      const shown = entries.filter((e) => at.may(e.sees))
      return (
        shown.length > 0 &&
        html`${title && html`<h2>${title}</h2>`}<ul role="list">${shown.map((e) => html`<li><a href="${e.href}"${e.name === current && html` aria-current="page"`}>${icon(e.shape)}${e.title}</a></li>`)}</ul>`
      )
    },
  )}</nav>`
}

const mark = ({ brand }: At, home: string): Html =>
  html`<a class="mark" href="${home}">${brand.logo ? html`<img src="${logoUrl(brand.logo)}" alt="${brand.name}">` : html`${icon('anchor')}<span>${brand.name}</span>`}</a>`

/** Never to be overlooked: whose account this is, until when, and the way out. */
const supportBanner = (at: At): Html =>
  at.actor.via.type === 'support'
    ? html`<div class="card" id="support">${notice(
        'warn',
        html`<strong>Support session.</strong> You, ${at.actor.via.staffName}, are in the account of <strong>${at.actor.name}</strong>. The audit log names both of you for what you do. It ends ${time(iso(at.actor.via.until), at)}.`,
        act(at, closeSupport, {}, 'End session', { icon: 'out', leadsTo: `/admin/customers/${at.actor.accountId}` }),
      )}</div>`
    : html``

/** How many jobs are going on. It says of itself that any answer which holds a newer one puts it in its place. */
const runningJobs = (at: At, jobs: Always['running']): Html => {
  if (!jobs) return html``
  const n = jobs.total
  return html`<a class="btn" id="running" href="${areas[at.actor.kind]}/jobs?state=running" hx-swap-oob="outerMorph"${n === 0 && html` hidden`}>${icon('jobs')}${n.toLocaleString('en')}<span>${n === 1 ? 'job' : 'jobs'} running</span></a>`
}

/** What the frame around every page shows, whatever the page. */
export const always = { running: ifAllowed(listJobs, () => ({ query: { state: 'running', limit: '1' } })) }
type Always = Partial<Answers<typeof always>>

export function layout({ title, body, page, at, nonce, always }: Frame<Always>, asset: (name: string) => string): Html {
  const signedIn = at.actor.accountId !== '' && !page?.open
  const inner = signedIn
    ? html`<div class="app">
      <header class="top"><button type="button" class="btn bare menu" aria-controls="nav" aria-expanded="false" aria-label="Menu">${icon('menu')}</button>${mark(at, homeOf(at.actor.kind))}<span class="grow"></span>${searchButton()}${runningJobs(at, always.running)}<a class="me" href="/account"${page?.nav === 'account' && html` aria-current="page"`}>${at.actor.name}</a>${act(at, signOut, {}, 'Sign out', { icon: 'out', leadsTo: '/login' })}</header>
      ${navigation(at, page?.nav)}
      <main id="main" tabindex="-1">${supportBanner(at)}${at.insecure && at.actor.kind === 'staff' && html`<div class="card">${notice('warn', html`<strong>Nodes may enroll over plain HTTP.</strong> PANEL_AGENT_INSECURE is set. Use it in a lab only.`)}</div>`}${body}</main>
    </div>`
    : html`<div class="gate"><header>${mark(at, '/')}</header><main id="main" tabindex="-1">${body}</main></div>`
  const whole = html`<html lang="en" data-now="${at.now}"${signedIn && html` data-area="${areas[at.actor.kind]}"`}${at.uiPreferences && html` data-theme="${at.uiPreferences.theme}" data-density="${at.uiPreferences.density}"${at.uiPreferences.timeZone && html` data-zone="${at.uiPreferences.timeZone}"`}`}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title} · ${at.brand.name}</title>
<meta name="color-scheme" content="light dark"><meta name="csrf-token" content="${at.csrf}"><meta name="robots" content="noindex">
<link rel="stylesheet" href="${asset('panel.css')}">${at.brand.accent && html`<link rel="stylesheet" href="${brandCssUrl(at.brand.accent)}">`}<link rel="icon" type="image/svg+xml" href="${asset('mark.svg')}">
<script defer nonce="${nonce}" src="${asset('htmx.js')}"></script><script type="module" nonce="${nonce}" src="${asset('panel.js')}"></script><script defer nonce="${nonce}" src="${asset('alpine.js')}"></script></head>
<body><a class="skip" href="#main">Skip to content</a>
${inner}
<div id="offline" class="offline" role="status" hidden>${at.brand.name} does not answer. What is shown may be old; this page keeps trying.</div>
<div id="toasts" role="status" aria-live="polite"></div>
${
  signedIn &&
  html`${secretOnce()}${palette(
    at,
    actionsOf(at.actor).filter((a) => at.leads(a.href)),
  )}<dialog id="confirm" aria-labelledby="confirm-t"></dialog>`
}
</body></html>`
  // Views name icons as `#i-…` and modules by their name; where the files lie is known here only. Text from people cannot hold a bare quote.
  return new Html(
    whole.text
      .replaceAll('href="#i-', `href="${asset('icons.svg')}#i-`)
      .replace(/data-with="([\w.]+)"/g, (_, name: string) => `data-with="${asset(name)}"`),
  )
}
