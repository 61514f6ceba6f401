// The own API tokens: what each may do, who uses it, and how it ends.

import { TOKEN_WARNING_MS } from '../../../src/identity/tokens/attention.ts'
import { USUAL_LIFE_MS, USUAL_OVERLAP_HOURS } from '../../../src/identity/tokens/model.ts'
import { presets } from '../../../src/identity/tokens/presets.ts'
import {
  createToken,
  listTokens,
  MOST_OVERLAP_HOURS,
  revokeToken,
  rotateToken,
} from '../../../src/identity/tokens/tokens.ts'
import type { Scope } from '../../../src/kernel/api/access.ts'
import { day, iso } from '../../../src/kernel/db/clock.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { checks, field, type Option, select } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { pager, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'

type Token = Answers<{ t: typeof listTokens }>['t']['data'][number]

const presetWords: Record<keyof typeof presets, string> = {
  billing: 'Billing system: orders and manages servers',
  'reseller-billing': "Reseller's billing system: orders and manages servers of its customers",
}

const once = {
  field: 'token',
  title: 'The new token',
  words: 'Store it where it will be used. Programs send it in the header "Authorization: Bearer …".',
}

/** Only what the viewer may do himself: a token cannot do more. */
function presetsFor(at: At): Option[] {
  const whole = Object.entries(presets).filter(([, list]) =>
    (list as readonly Scope[]).every((s) => at.actor.scopes.has(s)),
  )
  return whole.map(([value]) => ({ value, label: presetWords[value as keyof typeof presets] }))
}

function create(at: At): Html {
  const offered = presetsFor(at)
  return act(at, createToken, {}, 'Create token', {
    icon: 'plus',
    tone: 'pri',
    wide: true,
    secret: once,
    fields: html`
      ${field('token', 'name', { label: 'Name', required: true, hint: 'Where it will be used. The audit log shows it beside what the token did.' })}
      ${offered.length > 0 && select('token', 'preset', { label: 'Preset', options: [{ value: '', label: 'None: the scopes ticked below' }, ...offered] })}
      ${checks('token', 'scopes', {
        label: 'Scopes',
        hint: offered.length ? 'Without a preset: what it may do.' : 'What it may do.',
        values: [],
        options: Object.entries(at.registry.scopes)
          .filter(([name]) => at.actor.scopes.has(name as Scope))
          .map(([value, { words }]) => ({ value, label: `${words} (${value})` })),
      })}
      ${field('token', 'allow', { label: 'Only from', as: 'words', mono: true, hint: 'Addresses or CIDRs, separated by spaces. Empty: from anywhere.', placeholder: '203.0.113.7 2001:db8::/48' })}
      ${select('token', 'expiresAt', {
        label: 'Expires',
        nullable: true,
        value: iso(at.now + USUAL_LIFE_MS),
        options: [
          { value: iso(at.now + 30 * day), label: 'In 30 days' },
          { value: iso(at.now + 90 * day), label: 'In 90 days' },
          { value: iso(at.now + USUAL_LIFE_MS), label: 'In a year' },
          { value: '', label: 'Never' },
        ],
      })}`,
  })
}

/** A right that its owner has lost since does nothing, and says so. */
const scopeLine = (at: At, name: string): Html =>
  html`<li>${at.registry.scopes[name as Scope]?.words ?? name}${!(at.actor.scopes as ReadonlySet<string>).has(name) && html` <strong>(not any more: your account lost this)</strong>`}</li>`

const scopeList = (at: At, k: Token): Html =>
  html`<details class="row" id="scopes-${k.id}"><summary>${count(k.scopes.length, 'scope')}<span class="sr"> of ${k.name}</span></summary><ul class="will">${k.scopes.map((s) => scopeLine(at, s))}</ul></details>`

const expiry = (at: At, k: Token): Html =>
  k.expiresAt === null
    ? html`Never`
    : Date.parse(k.expiresAt) <= at.now
      ? pill('bad', 'fail', 'Expired')
      : Date.parse(k.expiresAt) < at.now + TOKEN_WARNING_MS
        ? html`${pill('warn', 'wait', 'Soon')} ${time(k.expiresAt, at)}`
        : time(k.expiresAt, at)

const rotate = (at: At, k: Token): Html =>
  act(at, rotateToken, { id: k.id }, 'Rotate', {
    of: k.name,
    title: `Rotate ${k.name}?`,
    disabledReason: k.expiresAt !== null && Date.parse(k.expiresAt) <= at.now && 'It has expired. Make a new token.',
    secret: once,
    confirm: {
      keep: 'Keep as it is',
      consequences: [
        'It gets a new value, which is shown once. Name, scopes, addresses and expiry stay.',
        'The current value is accepted for the time you set here; 0 ends it at once.',
        k.previousUntil && 'A value from an earlier rotation ends now.',
      ],
    },
    fields: field(`rotate-${k.id}`, 'overlapHours', {
      label: 'Accept the old value for',
      required: true,
      as: 'number',
      unit: 'hours',
      value: USUAL_OVERLAP_HOURS,
      min: 0,
      max: MOST_OVERLAP_HOURS,
      hint: `0 to ${MOST_OVERLAP_HOURS}`,
    }),
  })

const revoke = (at: At, k: Token): Html =>
  act(at, revokeToken, { id: k.id }, 'Revoke', {
    of: k.name,
    tone: 'bad',
    title: `Revoke ${k.name}?`,
    done: `${k.name} is revoked`,
    confirm: {
      keep: 'Keep token',
      consequences: [
        'Programs that use it are refused from now on, with 401 invalid_token.',
        k.usedAt ? html`It was used last ${time(k.usedAt, at)} from ${k.usedFrom}.` : 'It was never used.',
        k.previousUntil && 'Its previous value, still accepted since the rotation, ends too.',
        'Jobs that it started go on.',
        'It cannot be taken back.',
      ],
    },
  })

export const tokensPage = page({
  path: '/account/api',
  reads: { tokens: listTokens },
  title: 'API tokens',
  nav: 'tokens',
  view: ({ tokens, at }) => html`
    ${head({ title: 'API tokens', actions: create(at), sub: 'A token lets a program act in your name, as far as its scopes allow and never beyond what you may do.' })}
    <section class="sec" aria-label="API tokens">
      ${
        tokens.data.length
          ? table<Token>(
              'API tokens',
              tokens.data,
              [
                {
                  title: 'Token',
                  main: true,
                  cell: (k) => html`<strong>${k.name}</strong><small class="mono">pnl_…${k.ending}</small>`,
                },
                { title: 'May', cell: (k) => scopeList(at, k) },
                {
                  title: 'Last used',
                  cell: (k) =>
                    k.usedAt
                      ? html`${time(k.usedAt, at)}<small class="mono">from ${k.usedFrom}</small>`
                      : pill('idle', 'wait', 'Never used'),
                },
                {
                  title: 'Only from',
                  cell: (k) => (k.allow.length ? html`<span class="mono">${k.allow.join(' ')}</span>` : 'Everywhere'),
                },
                { title: 'Created', cell: (k) => time(k.createdAt, at) },
                {
                  title: 'Expires',
                  cell: (k) =>
                    html`${expiry(at, k)}${k.previousUntil && html`<small>old value ends ${time(k.previousUntil, at)}</small>`}`,
                },
                {
                  title: 'Actions',
                  actions: true,
                  cell: (k) => html`<div class="bar">${rotate(at, k)}${revoke(at, k)}</div>`,
                },
              ],
              (k) => k.id,
            )
          : empty('There is no token yet. A program needs one to call the API in your name.')
      }
      ${pager(at, tokens)}
    </section>`,
})
