// The form in which the owner of a server chooses what is installed on it.
import type { listOfferedImages } from '../../../../src/catalog/images/images.ts'
import { setupServer } from '../../../../src/compute/installation/setup.ts'
import type { Answers, At } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../../components/action.tsx'
import type { Area } from '../../../components/area.ts'
import { Field } from '../../../components/field.tsx'
import { Section } from '../../../components/section.tsx'
import { AccessFields, defaultImage, imageOptions, NoImages, rootPassword, windowsAmong } from '../access.tsx'
import { FirstBootFields, type ownScripts } from '../first-boot.tsx'
import { ImagePicks } from '../image-picks.tsx'
import type { Server } from '../words.ts'

/** Members of a team see their own keys, never the owner's. */
export const keysOf = (s: Server, at: At) => (s.access === 'own' ? s.owner.id : at.actor.accountId)

type SetupProps = {
  server: Server
  images: Answers<{ i: typeof listOfferedImages }>['i'] | undefined
  scripts: Answers<{ s: typeof ownScripts }>['s']
  area: Area
}
/** Nothing for readers who may not set it up. */
export function Setup({ server: s, images, scripts, area }: SetupProps) {
  const at = useAt()
  if (!at.may(setupServer)) return null
  if (!images)
    return (
      <Section id="setup" title="Waiting for setup">
        <p class="muted">Your provider installs this server for you.</p>
      </Section>
    )
  const options = imageOptions(images.data, s.diskGb)
  return (
    <Section id="setup" title="Set it up" words="Choose what to install. It takes about a minute.">
      <CallForm
        op={setupServer}
        params={{ id: s.id }}
        class="stack"
        done="Installation started"
        leadsTo={`${area}/servers/${s.id}`}
        secret={rootPassword(s.hostname, windowsAmong(images.data))}
      >
        <ImagePicks
          scope="setup"
          value={defaultImage(images.data, options)}
          options={options}
          empty={<NoImages staff={area === '/admin'} />}
        />
        <Field
          scope="setup"
          name="hostname"
          label="Hostname"
          required
          value={s.hostname}
          hint="Letters, numbers and hyphens, for example web01 or web01.example.com"
        />
        <Field
          scope="setup"
          name="name"
          label="Name"
          value={s.name === s.hostname ? '' : s.name}
          hint="Shown in lists. Leave empty to use the hostname."
        />
        <AccessFields scope="setup" ownerId={keysOf(s, at)} windows={windowsAmong(images.data)} />
        <FirstBootFields scope="setup" scripts={scripts} />
        <div class="bar">
          <button class="btn pri">Install</button>
        </div>
      </CallForm>
    </Section>
  )
}
