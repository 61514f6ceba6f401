// The document around every page: head, top bar, navigation, and the places where messages appear.

import { signOut } from '../src/identity/auth/sign-in.ts'
import { closeSupport } from '../src/identity/auth/support-session.ts'
import { areas, homeOf } from '../src/kernel/api/access.ts'
import { iso } from '../src/kernel/db/clock.ts'
import { brandCssUrl, logoUrl } from '../src/kernel/web/brand.ts'
import { Html, html } from '../src/kernel/web/html.ts'
import { actionsOf, navGroups } from '../src/kernel/web/navigation.ts'
import { type Answers, type At, ifAllowed } from '../src/kernel/web/page.ts'
import type { Frame } from '../src/kernel/web/serve-pages.ts'
import { listJobs } from '../src/platform/jobs/jobs.ts'
import { act } from './components/act.ts'
import { notice } from './components/card.ts'
import { type IconName, icon } from './components/icon.ts'
import { secretOnce } from './components/secret.ts'
import { time } from './components/time.ts'
import { palette, searchButton } from './platform/search/search.ts'

function navigation(at: At, current: string | undefined): Html {
  return html`<nav class="side" id="nav" aria-label="Main">${navGroups(at.registry, at.actor.kind).map(
    ([title, entries]) => {
      const shown = entries.filter((e) => at.may(e.sees))
      return (
        shown.length > 0 &&
        html`${title && html`<h2>${title}</h2>`}<ul role="list">${shown.map((e) => html`<li><a href="${e.href}"${e.name === current && html` aria-current="page"`}>${icon(e.icon as IconName)}${e.title}</a></li>`)}</ul>`
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
    actionsOf(at.registry, at.actor).filter((a) => at.leads(a.href)),
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
