// The rescue system of a server: a system beside its own, from which its disk can be repaired.
import type { ComponentChildren } from 'preact'
import { type rescueOptions, rescueServer } from '../../../src/compute/rescue/boot.ts'
import { exitRescue } from '../../../src/compute/rescue/exit.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Copyable, Note, Section } from '../../components/section.tsx'
import { away } from '../servers/power-buttons.tsx'
import { disabledReason, type Server } from '../servers/words.ts'
import { Setting } from '../workloads/settings-entry.tsx'

type RescueProps = { server: Server; rescue: Answers<{ r: typeof rescueOptions }>['r']; area: Area }

/** The rescue system, as a section of the page of access. */
export const Rescue = (of: RescueProps) => (
  <Section id="rescue" title="Rescue">
    {of.server.rescue ? <InRescue {...of} /> : <OutOfRescue {...of} />}
  </Section>
)

const OutOfRescue = ({ server: s, rescue, area }: RescueProps) => (
  <>
    <p class="muted">
      If the server no longer boots or its password is lost, start a small rescue system and repair its disk from there.
      Starting it changes nothing on the disk.
    </p>
    {rescue.image === null && (
      <Note level="info" action={area === '/admin' && <Link href="/admin/images">Choose one</Link>}>
        <strong>No rescue system yet.</strong>{' '}
        {area === '/admin' ? 'Choose the image that servers boot in rescue.' : 'Ask your provider for one.'}
      </Note>
    )}
    <div class="rows wrap">
      <Setting op={rescueServer} title="Rescue system" words={rescue.image ?? 'None'}>
        <Action
          op={rescueServer}
          params={{ id: s.id }}
          label="Boot rescue system"
          title={`Boot the rescue system of ${s.name}`}
          disabledReason={
            away(s) ??
            disabledReason(s, 'rescue') ??
            (rescue.image === null ? 'Your provider has chosen no rescue image yet.' : undefined)
          }
          done="The rescue system is starting"
          secret={{
            field: 'rootPassword',
            title: `Password of the rescue system of ${s.hostname}`,
            words:
              'Sign in as root with it, over SSH at any address of the server. It is valid until you leave rescue.',
          }}
          confirm={{
            keep: 'Leave it running',
            consequences: [
              s.status === 'running' &&
                `${s.hostname} is shut down first. Its services are offline until you leave rescue.`,
              "The rescue system uses the server's addresses, and a password that is shown once.",
              'The disk stays as it is; in rescue it is /dev/vdb.',
              rescue.sshOpen
                ? "The server's firewall still applies: whoever could reach it by SSH can reach the rescue system."
                : "The server's firewall still applies, and lets nobody in by SSH: only the console is left.",
            ],
          }}
        />
      </Setting>
    </div>
  </>
)

const MOUNT = 'mount /dev/vdb1 /mnt'
const UNMOUNT = 'umount /mnt'

const Step = ({ children }: { children: ComponentChildren }) => (
  <li>
    <span>{children}</span>
  </li>
)

const InRescue = ({ server: s, rescue, area }: RescueProps) => (
  <div class="stack">
    <p class="muted">Until you leave rescue, every restart boots the rescue system again.</p>
    {!rescue.sshOpen && (
      <Note level="info" action={<Link href={`${area}/servers/${s.id}/network`}>Open firewall</Link>}>
        <strong>The firewall lets nobody in by SSH.</strong> It applies in rescue too. Add a rule for TCP port 22, or
        sign in on the console.
      </Note>
    )}
    <ol class="steps">
      <Step>
        Sign in with {s.sshCommand ? <Copyable text={s.sshCommand} what="command" /> : 'the console as root'} and the
        password that was shown. The rescue system has its own host keys, so SSH warns about a changed key. The server's
        firewall still applies.
      </Step>
      <Step>
        The server's disk is <code>/dev/vdb</code>; <code>lsblk</code> lists its partitions. The first can usually be
        mounted with <Copyable text={MOUNT} what="command" />
      </Step>
      <Step>
        When you are done, unmount it with <Copyable text={UNMOUNT} what="command" /> and leave rescue.
      </Step>
    </ol>
    <div class="rows wrap">
      <Setting
        op={exitRescue}
        title="Leave rescue"
        words="Boots the server's own system. The rescue system and everything stored on it are deleted."
      >
        <Action
          op={exitRescue}
          params={{ id: s.id }}
          label="Leave rescue"
          disabledReason={away(s) ?? disabledReason(s, 'exit_rescue')}
          done="The server boots its own system"
        />
      </Setting>
    </div>
  </div>
)
