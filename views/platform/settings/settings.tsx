import { getSignInProvider } from '../../../src/identity/auth/identity-provider/configure.ts'
import { LEAST_CHARACTERS } from '../../../src/identity/auth/passwords/hash.ts'
import { sessionLimits } from '../../../src/identity/auth/sessions/sessions.ts'
import { listWeakenings } from '../../../src/identity/weakenings/weakenings.ts'
import { SIGN_INS_PER_MINUTE } from '../../../src/kernel/api/limits.ts'
import { hour } from '../../../src/kernel/db/clock.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { getNameServer } from '../../../src/network/reverse-dns/settings.ts'
import { ownBranding } from '../../../src/platform/settings/branding.ts'
import { listSettings } from '../../../src/platform/settings/defaults.ts'
import { getMail } from '../../../src/platform/settings/mail.ts'
import { Head } from '../../components/head.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { ReverseDns } from '../../network/reverse-dns/name-server.tsx'
import { BrandingSections } from './brand-form.tsx'
import { Defaults } from './defaults.tsx'
import { MailServer } from './mail.tsx'
import { SignInProvider } from './sign-in.tsx'
import { Weakenings } from './weakenings.tsx'

export const settingsPage = page({
  path: '/admin/settings',
  reads: {
    mail: getMail,
    brand: ownBranding.get,
    provider: getSignInProvider,
    defaults: listSettings,
    dns: getNameServer,
    weakenings: listWeakenings,
  },
  title: 'Settings',
  nav: 'settings',
  view: ({ mail, brand, provider, defaults, dns, weakenings }) => (
    <>
      <Head title="Settings" />
      <MailServer of={mail} />
      <BrandingSections calls={ownBranding} brand={brand} inherits="Berth" />
      <SignInProvider of={provider} />
      <ReverseDns of={dns} />
      <Weakenings of={weakenings.data} />
      <Defaults of={defaults.settings} />
      <SignInRules />
    </>
  ),
})

const hours = (ms: number) => `${ms / hour} h`
const days = (ms: number) => (ms % (24 * hour) === 0 ? `${ms / (24 * hour)} days` : hours(ms))

/** When a session ends, in words. */
const sessionWords = ({ idleMs, wholeMs }: { idleMs: number; wholeMs: number }, whole: (ms: number) => string) =>
  `signed out after ${hours(idleMs)} without activity, and after ${whole(wholeMs)} at the latest`

const SignInRules = () => (
  <Section id="sign-in" title="Sign-in" words="These rules are fixed in this version.">
    <Facts
      of={[
        ['Password', `at least ${LEAST_CHARACTERS} characters; common passwords are refused`],
        ['Attempts', `${SIGN_INS_PER_MINUTE} a minute from one address`],
        ['Staff', sessionWords(sessionLimits.staff, hours)],
        ['Customers and resellers', sessionWords(sessionLimits.customer, days)],
      ]}
    />
  </Section>
)
