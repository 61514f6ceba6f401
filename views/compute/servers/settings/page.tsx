// Changes to a server beyond its power. Each entry says what it does before it is pressed.

import type { ComponentChildren } from 'preact'
import { listOfferedImages } from '../../../../src/catalog/images/images.ts'
import { listPackages } from '../../../../src/catalog/packages/packages.ts'
import { reinstallOptions, reinstallServer } from '../../../../src/compute/installation/reinstall.ts'
import { listIsos } from '../../../../src/compute/isos/library.ts'
import { listGroups } from '../../../../src/compute/placement-groups/groups.ts'
import { suspendServer, unsuspendServer } from '../../../../src/compute/servers/life/suspend.ts'
import { terminateServer } from '../../../../src/compute/servers/life/terminate.ts'
import { setBillingService } from '../../../../src/compute/servers/settings/billing-service.ts'
import { getHardware } from '../../../../src/compute/servers/settings/boot-order.ts'
import { labelServer } from '../../../../src/compute/servers/settings/labels.ts'
import { renameServer } from '../../../../src/compute/servers/settings/name.ts'
import { setProtection } from '../../../../src/compute/servers/settings/protection.ts'
import { setRestartPolicy } from '../../../../src/compute/servers/settings/restart-policy.ts'
import { relocationOptions } from '../../../../src/compute/transfers/readdressing/relocate.ts'
import { getResellerAccount } from '../../../../src/identity/resellers/own.ts'
import { type Answers, allIfAllowed, ifAllowed, reading } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { listAlerts } from '../../../../src/platform/alerts/alerts.ts'
import { Action, Edit } from '../../../components/action.tsx'
import { type Area, inEveryArea } from '../../../components/area.ts'
import { Field } from '../../../components/field.tsx'
import { Beside } from '../../../components/live.tsx'
import { Section } from '../../../components/section.tsx'
import { count, exactGb } from '../../../components/words.ts'
import { AlertSettings } from '../../../platform/alerts/settings.tsx'
import { GroupOfServer } from '../../placement-groups/of-server.tsx'
import { MoveServer } from '../../transfers/move.tsx'
import { Relocate } from '../../transfers/relocate.tsx'
import { BillingService, Rename, RestartPolicy } from '../../workloads/settings.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import {
  AccessFields,
  accessFiles,
  defaultImage,
  imageOptions,
  NoImages,
  rootPassword,
  windowsAmong,
} from '../access.tsx'
import { FirstBootFields, ownScripts } from '../first-boot.tsx'
import { ServerFrame, serverReads } from '../frame.tsx'
import { ImagePicks } from '../image-picks.tsx'
import { keysOf } from '../overview/setup.tsx'
import { away } from '../power-buttons.tsx'
import { disabledReason, type Server, whatGoes } from '../words.ts'
import { ChangeSpeed } from './change-speed.tsx'
import { Machine } from './machine.tsx'
import { ChangeOwner } from './new-owner.tsx'
import { ChangePackage } from './other-package.tsx'
import { Unsuspend } from './unsuspend.tsx'

const reads = {
  ...serverReads,
  images: allIfAllowed(listOfferedImages),
  scripts: ownScripts,
  reinstallation: ifAllowed(reinstallOptions),
  packages: allIfAllowed(listPackages),
  relocation: ifAllowed(relocationOptions),
  hardware: getHardware,
  isos: allIfAllowed(listIsos),
  terms: ifAllowed(getResellerAccount),
  alerts: reading(listAlerts, ({ params }) => ({ params })),
  groups: reading(listGroups, ({ params }) => ({ query: { serverId: params['id'] ?? '' } })),
}
type InArea = Answers<typeof reads> & { area: Area }

export const serverSettingsPages = inEveryArea({
  path: '/servers/{id}/settings',
  reads,
  title: ({ server }) => `Settings of ${server.name}`,
  nav: 'servers',
  files: accessFiles,
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <Beside of="server" id="manage">
        {data.server.status === 'terminated' ? (
          <p class="in muted">A terminated server has no settings.</p>
        ) : (
          <Settings {...data} area={area} />
        )}
      </Beside>
    </ServerFrame>
  ),
})

/** By use: what is changed often stands first, what destroys last. */
const Settings = (data: InArea) => (
  <>
    <Group id="general" title="General">
      <Rename op={renameServer} of={data.server} />
      <Labels server={data.server} />
      <Protection server={data.server} />
      <AlertSettings server={data.server} alerts={data.alerts} />
    </Group>
    <Group id="size" title="Size and speed">
      <ChangePackage server={data.server} offered={data.packages?.data ?? data.terms?.packages ?? []} />
      <ChangeSpeed server={data.server} />
    </Group>
    <Group id="boot" title="Boot and hardware">
      <RestartPolicy
        op={setRestartPolicy}
        of={data.server}
        ends="stops on its own"
        title="After a crash"
        hint="Up to three times in ten minutes. A server that was stopped in the panel stays off."
        disabledReason={disabledReason(data.server, 'restart_policy')}
      />
      <Machine server={data.server} hardware={data.hardware} isos={data.isos?.data ?? []} />
    </Group>
    <Group id="place" title="Place">
      <GroupOfServer server={data.server} groups={data.groups} area={data.area} />
      <Relocate server={data.server} options={data.relocation} />
      {data.area === '/admin' && <MoveServer server={data.server} />}
    </Group>
    <Group id="ownership" title="Owner and billing">
      <BillingService op={setBillingService} of={data.server} more=" An order with this id takes over this server." />
      {data.area === '/admin' && <ChangeOwner server={data.server} />}
      <Suspend server={data.server} />
    </Group>
    <Group id="end" title="Reinstall and terminate">
      {data.images && data.server.status !== 'pending_setup' && <Reinstall {...data} />}
      <Terminate {...data} />
    </Group>
  </>
)

/** Not shown where its reader may change nothing of it. */
const Group = ({ id, title, children }: { id: string; title: string; children: ComponentChildren }) => (
  <Section id={id} title={title}>
    <div class="rows wrap">{children}</div>
  </Section>
)

/** Staff change their own labels, and read those of the owner in the line below. */
function Labels({ server: s }: { server: Server }) {
  const own = s.staffLabels ?? s.labels
  const theirs = s.staffLabels && s.labels.length > 0 ? ` Its owner's: ${s.labels.join(', ')}.` : ''
  return (
    <Setting op={labelServer} title="Labels" words={`${own.join(', ') || 'None'}.${theirs}`}>
      <Edit
        op={labelServer}
        params={{ id: s.id }}
        of="the labels"
        title={`Labels of ${s.name}`}
        fields={
          <Field
            scope={`labels-${s.id}`}
            name="labels"
            label="Labels"
            as="words"
            value={own.join(' ')}
            hint="Words separated by spaces, for example production shop. Lists can be filtered by each."
          />
        }
      />
    </Setting>
  )
}

const Protection = ({ server: s }: { server: Server }) => (
  <Setting
    op={setProtection}
    title="Protection"
    words={s.protected ? 'On: it cannot be reinstalled, and its snapshots can be neither restored nor deleted.' : 'Off'}
  >
    <Action
      op={setProtection}
      params={{ id: s.id }}
      body={{ protected: !s.protected }}
      label={s.protected ? 'Unprotect' : 'Protect'}
      title={s.protected ? `Take the protection off ${s.hostname}?` : `Protect ${s.hostname}?`}
      done={s.protected ? 'Not protected' : 'Protected'}
      disabledReason={s.locked && 'The account is locked. Ask your provider.'}
      confirm={{
        consequences: s.protected
          ? ['It can be reinstalled again, and its snapshots and backups deleted.']
          : [
              'Nobody reinstalls it or deletes its snapshots and backups until this is off.',
              'Your provider and its billing can still end it; its disk is then kept for the undelete window.',
            ],
      }}
    />
  </Setting>
)

const Suspend = ({ server: s }: { server: Server }) =>
  s.status === 'suspended' ? (
    <Setting op={unsuspendServer} title="Unsuspend" words="Gives it back to its owner, as it was before.">
      <Unsuspend server={s} />
    </Setting>
  ) : (
    <Setting
      op={suspendServer}
      title="Suspend"
      words="Switches it off and keeps its owner out until it is unsuspended."
    >
      <Action
        op={suspendServer}
        params={{ id: s.id }}
        label="Suspend"
        disabledReason={disabledReason(s, 'suspend')}
        done="Suspended"
        confirm={{
          consequences: [
            `${s.hostname} is switched off${s.nodeConnected ? '' : ' when its node is back'}.`,
            `${s.owner.name} can neither start nor change it.`,
            'Disk and addresses stay.',
          ],
        }}
        fields={
          <Field
            scope={`suspend-${s.id}`}
            name="reason"
            label="Reason"
            required
            hint="Its owner reads it in the mail and on the page of the server. Example: Invoice 2041 is overdue"
          />
        }
      />
    </Setting>
  )

/** The sentences of the dialog and of its entry about the system that is installed now. */
const fateOf = (s: Server) =>
  ({
    kept: {
      words: 'Installs an image again. The current system is deleted once the new one runs; addresses stay.',
      consequence:
        `Everything on its disk of ${exactGb(s.diskGb)} is deleted once the new system runs. ` +
        'If the installation fails, the current system stays as it is.',
    },
    deleted_first: {
      words: 'Installs an image again. Everything on the disk is deleted first; addresses stay.',
      consequence:
        "This server's old system is deleted first, because there is no space for both: " +
        'if the installation fails, nothing is left.',
    },
    none: { words: 'Installs an image. Addresses stay.', consequence: 'Nothing is installed now.' },
  }) as const

function Reinstall({ server: s, images, scripts, reinstallation, area }: InArea) {
  const oldSystem = reinstallation?.oldSystem ?? 'kept'
  const { words, consequence } = fateOf(s)[oldSystem]
  const snapshots = reinstallation?.snapshots ?? 0
  const at = useAt()
  const scope = `reinstall-${s.id}`
  const options = imageOptions(images?.data ?? [], s.diskGb)
  const same = options.find((o) => o.value === s.image?.id && !o.why)?.value
  const value = same ?? defaultImage(images?.data ?? [], options)
  return (
    <Setting id="reinstall" op={reinstallServer} title="Reinstall" words={words}>
      <Action
        op={reinstallServer}
        params={{ id: s.id }}
        {...(oldSystem === 'deleted_first' && { body: { discardFirst: true } })}
        label="Reinstall"
        tone="bad"
        wide
        title={`Reinstall ${s.hostname}?`}
        disabledReason={away(s) ?? disabledReason(s, 'reinstall')}
        done="Reinstallation started"
        leadsTo={`${area}/servers/${s.id}`}
        secret={rootPassword(s.hostname, windowsAmong(images?.data ?? []))}
        confirm={{
          type: s.hostname,
          keep: 'Keep as it is',
          consequences: [
            consequence,
            snapshots > 0 && `${count(snapshots, 'snapshot')} of the disk ${snapshots === 1 ? 'is' : 'are'} deleted.`,
            'Name, addresses, package and extra volumes stay.',
          ],
        }}
        fields={
          <>
            <ImagePicks scope={scope} value={value} options={options} empty={<NoImages staff={area === '/admin'} />} />
            <AccessFields scope={scope} ownerId={keysOf(s, at)} windows={windowsAmong(images?.data ?? [])} />
            <FirstBootFields scope={scope} scripts={scripts} />
          </>
        }
      />
    </Setting>
  )
}

const Terminate = ({ server: s, area }: InArea) => (
  <Setting
    id="terminate"
    op={terminateServer}
    title="Terminate"
    words="Ends it at once. Its disk is deleted and its addresses are released when the undelete window ends."
  >
    <Action
      op={terminateServer}
      params={{ id: s.id }}
      label="Terminate server"
      tone="bad"
      disabledReason={
        disabledReason(s, 'terminate') ??
        (s.protected && s.owner.id === useAt().actor.accountId && 'It is protected. Take the protection off first.')
      }
      title={`Terminate ${s.hostname}?`}
      done={`${s.hostname} is terminated`}
      {...(area && { leadsTo: `${area}/servers` })}
      confirm={{ type: s.hostname, keep: 'Keep server', consequences: whatGoes(s) }}
    />
  </Setting>
)
