// Name, logo, colour and sender: one form for the installation and for a reseller.

import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { LEAST_CONTRAST } from '../../../src/platform/settings/brand-style.ts'
import { type BrandingCalls, resellerBranding } from '../../../src/platform/settings/branding.ts'
import { act, callForm } from '../../html/act.ts'
import { card, inside } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'

type Brand = Answers<{ b: BrandingCalls['get'] }>['b']

/** `inherits`: what stands there when a field is left empty. */
export const brandingCards = (at: At, calls: BrandingCalls, brand: Brand, inherits: string): Html => html`
  ${card(
    { id: 'brand', title: 'Branding' },
    inside(
      callForm(
        calls.change,
        {},
        { name: 'stack', done: 'Saved' },
        html`
        ${field('brand', 'name', { label: 'Name', nullable: true, value: brand.name, hint: `Beside the logo, in titles and in mails. Empty: ${inherits}.` })}
        ${field('brand', 'accent', { label: 'Colour', nullable: true, mono: true, value: brand.accent, placeholder: '#1d4ed8', hint: `Of buttons and links. White text must be legible on it: a contrast of ${LEAST_CONTRAST} or more.` })}
        <div class="pair">
          ${field('brand', 'senderName', { label: 'Sender name', nullable: true, value: brand.senderName, hint: 'Mails come from it. Empty: the name above.' })}
          ${field('brand', 'senderAddress', { label: 'Sender address', nullable: true, type: 'email', value: brand.senderAddress, hint: 'The mail server must be allowed to send for it. Empty: its own.' })}
        </div>
        <div class="bar"><button class="btn pri">Save branding</button></div>`,
      ),
    ),
  )}
  ${card(
    {
      id: 'logo',
      title: 'Logo',
      actions:
        brand.logo &&
        act(at, calls.removeLogo, {}, 'Remove logo', {
          done: 'The logo is removed',
          confirm: { keep: 'Keep logo', consequences: ['The name is shown instead.'] },
        }),
    },
    inside(html`
      ${brand.logo ? html`<p><img class="logo" src="${brand.logo}" alt="Current logo"></p>` : html`<p class="muted">There is none: the name is shown instead.</p>`}
      ${callForm(
        calls.setLogo,
        {},
        { name: 'stack', done: 'The logo is saved' },
        html`<div class="f"><label for="logo-file">Picture</label><span class="hint" id="logo-file-h">PNG, JPEG or WebP, up to 100 kB. It is shown 28 pixels high, on light and on dark.</span><input id="logo-file" type="file" accept="image/png,image/jpeg,image/webp" aria-describedby="logo-file-h" data-into="image"></div><input type="hidden" name="image" required>
        <div class="bar"><button class="btn">Upload logo</button></div>`,
      )}`),
  )}`

export const resellerBrandingPage = page({
  path: '/reseller/branding',
  reads: { brand: resellerBranding.get },
  title: 'Branding',
  nav: 'branding',
  view: ({ brand, at }) => html`
    ${head({ title: 'Branding', sub: 'How your customers see this panel after signing in, and who their mails are from. What you leave empty is your provider’s.' })}
    ${brandingCards(at, resellerBranding, brand, 'the name of your provider')}`,
})
