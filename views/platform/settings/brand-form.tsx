// Name, logo, colour and sender: one form for the installation and for a reseller.
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { LEAST_CONTRAST } from '../../../src/platform/settings/brand-style.ts'
import { type BrandingCalls, resellerBranding } from '../../../src/platform/settings/branding.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Section } from '../../components/section.tsx'

type Brand = Answers<{ b: BrandingCalls['get'] }>['b']
type BrandProps = { calls: BrandingCalls; brand: Brand }

/** `inherits`: what stands there when a field is left empty. */
export const BrandingSections = ({ inherits, ...of }: BrandProps & { inherits: string }) => (
  <>
    <Section id="brand" title="Branding">
      <BrandForm {...of} inherits={inherits} />
    </Section>
    <Section id="logo" title="Logo" actions={of.brand.logo && <RemoveLogo calls={of.calls} />}>
      <LogoForm {...of} />
    </Section>
  </>
)

const BrandForm = ({ calls, brand, inherits }: BrandProps & { inherits: string }) => (
  <CallForm op={calls.change} class="stack" done="Saved">
    <Field
      scope="brand"
      name="name"
      label="Name"
      nullable
      value={brand.name}
      hint={`Next to the logo, in titles and in emails. Empty: ${inherits}.`}
    />
    <Field
      scope="brand"
      name="accent"
      label="Colour"
      nullable
      mono
      value={brand.accent}
      placeholder="#1d4ed8"
      hint={`For buttons and links. White text on it needs a contrast of ${LEAST_CONTRAST} or more.`}
    />
    <Field
      scope="brand"
      name="supportLink"
      label="Support link"
      nullable
      value={brand.supportLink}
      placeholder="https://help.example.com"
      hint="A web page or an e-mail address. People find it where they sign in, in their menu and beside failures."
    />
    <div class="pair">
      <Field
        scope="brand"
        name="senderName"
        label="Sender name"
        nullable
        value={brand.senderName}
        hint="Emails come from it. Empty: the name above."
      />
      <Field
        scope="brand"
        name="senderAddress"
        label="Sender address"
        nullable
        type="email"
        value={brand.senderAddress}
        hint="The mail server must be allowed to send for it. Empty: the mail server’s address."
      />
    </div>
    <div class="bar">
      <button class="btn pri">Save branding</button>
    </div>
  </CallForm>
)

const RemoveLogo = ({ calls }: { calls: BrandingCalls }) => (
  <Action
    op={calls.removeLogo}
    label="Remove logo"
    done="The logo is removed"
    confirm={{ keep: 'Keep logo', consequences: ['The name is shown instead.'] }}
  />
)

const LogoForm = ({ calls, brand }: BrandProps) => (
  <div class="stack">
    {brand.logo ? (
      <p>
        <img class="logo" src={brand.logo} alt="Current logo" />
      </p>
    ) : (
      <p class="muted">There is no logo: the name is shown instead.</p>
    )}
    <CallForm op={calls.setLogo} class="stack" done="The logo is saved">
      <div class="f">
        <label for="logo-file">Image</label>
        <span class="hint" id="logo-file-h">
          PNG, JPEG or WebP, up to 100 kB. It is shown 28 pixels high, on light and dark backgrounds.
        </span>
        <input
          id="logo-file"
          type="file"
          accept="image/png,image/jpeg,image/webp"
          aria-describedby="logo-file-h"
          data-into="image"
        />
      </div>
      <input type="hidden" name="image" required />
      <div class="bar">
        <button class="btn">Upload logo</button>
      </div>
    </CallForm>
  </div>
)

export const resellerBrandingPage = page({
  path: '/reseller/branding',
  reads: { brand: resellerBranding.get },
  title: 'Branding',
  nav: 'branding',
  view: ({ brand }) => (
    <>
      <Head
        title="Branding"
        sub={
          <span>
            How this panel looks to your customers after they sign in, and who sends their emails. Empty fields use your
            provider’s settings.
          </span>
        }
      />
      <BrandingSections calls={resellerBranding} brand={brand} inherits="the name of your provider" />
    </>
  ),
})
