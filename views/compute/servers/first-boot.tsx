// The choice of script and user-data for the first boot of an installation, and the result of the script.
import { MOST_STARTUP_OUTPUT_BYTES } from '../../../agent/protocol/startup-script.ts'
import type { getInstallationCheck } from '../../../src/compute/guest/installation-check.ts'
import { getStartupScript } from '../../../src/compute/guest/startup-script.ts'
import { listScripts } from '../../../src/compute/scripts/scripts.ts'
import { rightsWith } from '../../../src/identity/team/access.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import { type Answers, ifNamed } from '../../../src/kernel/web/page.ts'
import { Select, TextArea } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Facts, Note, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import type { Server } from './words.ts'

/** The reader's own scripts; staff have none. */
export const ownScripts = ifNamed(listScripts, ({ actor }) =>
  actor.kind === 'staff' ? undefined : { params: { id: actor.accountId } },
)
type Scripts = Answers<{ scripts: typeof listScripts }>['scripts'] | undefined

export const FirstBootFields = ({ scope, scripts }: { scope: string; scripts: Scripts }) => (
  <details class="row">
    <summary>More: startup script, cloud-init</summary>
    <div class="stack">
      {scripts &&
        (scripts.data.length > 0 ? (
          <Select
            scope={scope}
            name="scriptId"
            label="Startup script"
            options={[
              { value: '', label: 'None' },
              ...scripts.data.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            hint="Runs once, as root, at the first boot. Its output appears on the server's page."
          />
        ) : (
          <p class="muted">
            No startup script is saved. <Link href="/scripts">Add one</Link> to run it at the first boot.
          </p>
        ))}
      <TextArea
        scope={scope}
        name="userData"
        label="User data"
        mono
        rows={6}
        hint="For cloud-init: a text that begins with #cloud-config, or a script that begins with #!"
      />
    </div>
  </details>
)

/** Not for those with whom the server is shared and who may not reinstall it. It is read after `server`. */
export const startupOfOwn = ifNamed(getStartupScript, ({ actor, params }, { server }: { server: Server }) => {
  const rights = rightsWith(server.access)
  return !rights || mayCallOn(getStartupScript, actor, rights) ? { params } : undefined
})
type Startup = Answers<{ startup: typeof getStartupScript }>['startup'] | undefined

/** Nothing for a server without a startup script, and for readers who may not see it. */
export function StartupScriptResult({ of }: { of: Startup }) {
  const s = of?.script
  if (!s) return null
  const outcome =
    s.state === 'ended' ? (s.exitCode === 0 ? 'Succeeded' : `Failed with exit code ${s.exitCode}`) : outcomes[s.state]
  return (
    <Section id="startup" title="Startup script">
      <div class="stack">
        <Facts
          pairs
          of={[
            ['Script', s.name],
            ['Result', outcome],
            ['Ended', s.state === 'ended' && s.endedAt && <Time iso={s.endedAt} />],
          ]}
        />
        {s.output ? (
          <pre class="code" tabindex={0} role="region" aria-label="Output of the startup script">
            {s.output}
          </pre>
        ) : (
          s.state === 'ended' && <p class="muted">It wrote no output.</p>
        )}
        {s.truncated && <p class="muted">Only the first {bytes(MOST_STARTUP_OUTPUT_BYTES)} are stored.</p>}
      </div>
    </Section>
  )
}

const outcomes = {
  waiting: 'Still running. Without a guest agent in the image, the panel cannot see when it ends.',
  unknown: 'Unknown: it did not end within a day.',
}

type Installed = Answers<{ i: typeof getInstallationCheck }>['i'] | undefined

/** Only where something is missing: a server that has all of it needs no words about it. */
export function InstallationResult({ of }: { of: Installed }) {
  const c = of?.check
  if (!c?.warnings.length) return null
  const answering = c.addresses.filter(({ answers }) => answers).map(({ address }) => address)
  return (
    <Section id="installation" title="After its installation">
      <div class="stack">
        {c.warnings.map((warning) => (
          <Note level="warn">{warning}</Note>
        ))}
        <Facts
          pairs
          of={[
            ['Answers at', answering.join(', ') || 'No address'],
            ['SSH', c.ssh ? 'Answers' : 'Did not answer its node'],
            ['Calls itself', c.hostname],
            ['Seen', <Time iso={c.at} />],
          ]}
        />
      </div>
    </Section>
  )
}
