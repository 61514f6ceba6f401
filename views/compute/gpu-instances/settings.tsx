// Changes to an instance beyond its power. Each entry says what it does before it is pressed.

import { setInstanceHttpPorts } from '../../../src/compute/gpu-instances/http/ports.ts'
import { deleteInstance, deleteOwnInstance } from '../../../src/compute/gpu-instances/life/delete.ts'
import { suspendInstance, unsuspendInstance } from '../../../src/compute/gpu-instances/life/suspend.ts'
import { rebuildInstance } from '../../../src/compute/gpu-instances/run/rebuild.ts'
import { setInstanceBillingService } from '../../../src/compute/gpu-instances/settings/billing-service.ts'
import { setInstanceEnvironment } from '../../../src/compute/gpu-instances/settings/environment.ts'
import { renameInstance } from '../../../src/compute/gpu-instances/settings/rename.ts'
import { setInstanceRestartPolicy } from '../../../src/compute/gpu-instances/settings/restart-policy.ts'
import { setInstanceKeys } from '../../../src/compute/gpu-instances/settings/ssh-keys.ts'
import { getIdleStop, setIdleStop } from '../../../src/compute/gpu-instances/use/idle-stop.ts'
import { restartPolicyWords } from '../../../src/fleet/workloads/restart-policy.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { type Answers, ifNamed, reading } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Checks } from '../../components/choices.tsx'
import { Field, Select, TextArea } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { span } from '../../components/time.tsx'
import { count, list } from '../../components/words.ts'
import { Setting } from '../servers/settings/setting.tsx'
import { restartPolicies } from '../servers/words.ts'
import { DeleteButton, HELD } from './actions.tsx'
import { instancePage } from './area.ts'
import { frameReads, InstanceFrame } from './frame.tsx'
import { away, disabledReason, type Instance } from './words.ts'

const reads = {
  ...frameReads,
  idle: reading(getIdleStop, ({ params }) => ({ params })),
  // With whom it is shared cannot choose among the owner's keys.
  keys: ifNamed(listSshKeys, (_, { instance }: { instance: Instance }) =>
    instance.access === 'own' ? { params: { id: instance.owner.id }, query: { limit: '100' } } : undefined,
  ),
}
type Data = Answers<typeof reads>
type InArea = Data & { area: Area }

export const instanceSettingsPages = instancePage({
  path: '/{id}/settings',
  reads,
  title: ({ instance }) => `Settings of ${instance.name}`,
  view: (data, area) => (
    <InstanceFrame {...data} area={area}>
      <Live id="manage" every={4}>
        <Section id="settings" title="Settings" quiet first>
          {data.instance.status === 'deleting' || data.instance.status === 'deleted' ? (
            <p class="muted">A deleted GPU instance has no settings.</p>
          ) : (
            <Settings {...data} area={area} />
          )}
        </Section>
      </Live>
    </InstanceFrame>
  ),
})

const Settings = (data: InArea) => (
  <div class="rows wrap">
    <Rename {...data} />
    <Keys {...data} />
    <Environment {...data} />
    <HttpPorts {...data} />
    <IdleStop {...data} />
    <RestartPolicy {...data} />
    <BillingService {...data} />
    <Rebuild {...data} />
    <Suspend {...data} />
    <Delete {...data} />
  </div>
)

const Rename = ({ instance: it }: InArea) => (
  <Setting op={renameInstance} title="Name" words={it.name}>
    <Action
      op={renameInstance}
      params={{ id: it.id }}
      label="Rename"
      title={`Rename ${it.name}`}
      submit="Save"
      done="Saved"
      fields={
        <Field
          scope="rename"
          name="name"
          label="Name"
          required
          value={it.name}
          hint="Shown in the panel. The hostname stays."
        />
      }
    />
  </Setting>
)

const Keys = ({ instance: it, keys, area }: InArea) => (
  <Setting
    op={setInstanceKeys}
    title="SSH keys"
    words={it.sshKeys.length > 0 ? list(it.sshKeys.map(({ name }) => name)) : 'None: nobody can log in over SSH.'}
  >
    {keys && (
      <Action
        op={setInstanceKeys}
        params={{ id: it.id }}
        label="Change"
        of="the SSH keys"
        title={`SSH keys of ${it.name}`}
        submit="Save"
        done="The keys are being changed"
        disabledReason={away(it) ?? disabledReason(it, 'ssh_keys')}
        fields={
          <Checks
            scope={`keys-${it.id}`}
            name="sshKeyIds"
            label="Keys that may log in as root"
            hint="At once and without a restart. Sessions of keys that are taken away end."
            values={it.sshKeys.map(({ id }) => id)}
            options={keys.data.map(({ id, name, fingerprint }) => ({
              value: id,
              label: name,
              hint: <span class="mono">{fingerprint}</span>,
            }))}
            empty={
              <span class="muted">
                There is no key yet.{' '}
                <Link href={area === '' ? '/account/ssh-keys' : `${area}/customers/${it.owner.id}#keys`}>Add one</Link>
              </span>
            }
          />
        }
      />
    )}
  </Setting>
)

const Environment = ({ instance: it }: InArea) => (
  <Setting
    op={setInstanceEnvironment}
    title="Environment and command"
    words={
      <>
        {count(it.environment?.length ?? 0, 'variable')}
        {it.command ? `, ${it.command.join(' ')}` : ", the image's own command"}
      </>
    }
  >
    {it.environment && (
      <Action
        op={setInstanceEnvironment}
        params={{ id: it.id }}
        label="Change"
        of="environment and command"
        title={`Environment and command of ${it.name}`}
        submit="Save"
        done="Saved; the next start uses them"
        wide
        disabledReason={disabledReason(it, 'environment')}
        fields={
          <>
            <TextArea
              scope={`environment-${it.id}`}
              name="environment"
              label="Environment variables"
              as="lines"
              mono
              rows={6}
              value={it.environment.join('\n')}
              hint="One in each line, as NAME=value. They replace what the image sets under the same name."
            />
            <TextArea
              scope={`command-${it.id}`}
              name="command"
              label="Command"
              as="lines"
              mono
              rows={3}
              value={it.command?.join('\n')}
              hint="The program, and each of its arguments in a line of its own. Empty: the image's own."
            />
            <p class="hint">
              A running instance takes them at its next restart, which makes its container anew: files outside of
              /workspace are lost then.
            </p>
          </>
        }
      />
    )}
  </Setting>
)

/** Nothing where its host serves no names. */
const HttpPorts = ({ instance: it }: InArea) =>
  it.httpDomain !== null && (
    <Setting
      op={setInstanceHttpPorts}
      title="HTTP names"
      words={
        it.httpPorts.length > 0
          ? `For ${it.httpPorts.length > 1 ? 'ports' : 'port'} ${list(it.httpPorts.map(({ port }) => String(port)))}.`
          : 'None: no port is reached by a name of its own.'
      }
    >
      <Action
        op={setInstanceHttpPorts}
        params={{ id: it.id }}
        label="Change"
        of="the HTTP names"
        title={`HTTP names of ${it.name}`}
        submit="Save"
        done="Saved; the names change within seconds"
        disabledReason={disabledReason(it, 'http_ports')}
        fields={
          <>
            <Field
              scope={`http-${it.id}`}
              name="httpPorts"
              label="Ports with a name"
              as="numbers"
              value={it.httpPorts.map(({ port }) => port).join(', ')}
              placeholder="8888, 7860"
              hint="Ports of the container where a program speaks HTTP, at most ten."
            />
            <p class="hint">
              Each gets a link under {it.httpDomain} that anyone can open. Let your programs ask for a password or a
              token.
            </p>
          </>
        }
      />
    </Setting>
  )

const IdleStop = ({ instance: it, idle }: InArea) => (
  <Setting
    op={setIdleStop}
    title="Stop when idle"
    words={
      <>
        {idle.minutes === null
          ? 'Off: it runs until somebody stops it.'
          : `After ${count(idle.minutes, 'minute')} without use of its cards.`}
        {idle.idleSeconds !== null && ` Not used for ${span(idle.idleSeconds * 1000)}.`}
      </>
    }
  >
    <Action
      op={setIdleStop}
      params={{ id: it.id }}
      label="Change"
      of="the stop when idle"
      title={`Stop ${it.name} when idle`}
      submit="Save"
      done="Saved"
      fields={
        <>
          <Field
            scope={`idle-${it.id}`}
            name="minutes"
            label="Minutes without use"
            as="number"
            nullable
            min={10}
            max={10_080}
            unit="minutes"
            value={idle.minutes}
            hint={
              'From 10 minutes to 7 days; empty: never. A program that keeps memory of a card and computes nothing ' +
              'does not use it.'
            }
          />
          <p class="hint">{HELD} To end that, delete it.</p>
        </>
      }
    />
  </Setting>
)

const RestartPolicy = ({ instance: it }: InArea) => (
  <Setting op={setInstanceRestartPolicy} title="When it ends by itself" words={restartPolicyWords[it.restartPolicy]}>
    <Action
      op={setInstanceRestartPolicy}
      params={{ id: it.id }}
      label="Change"
      of="what happens when it ends by itself"
      title={`When ${it.name} ends by itself`}
      submit="Save"
      done="Saved"
      disabledReason={disabledReason(it, 'restart_policy')}
      fields={
        <Select
          scope={`restart-${it.id}`}
          name="restartPolicy"
          label="Restart policy"
          value={it.restartPolicy}
          options={restartPolicies}
          hint="An instance that was stopped in the panel stays off."
        />
      }
    />
  </Setting>
)

const BillingService = ({ instance: it }: InArea) => (
  <Setting
    op={setInstanceBillingService}
    title="Billing identifier"
    words={it.billingServiceId ?? 'None: a billing system sets it with its order.'}
  >
    <Action
      op={setInstanceBillingService}
      params={{ id: it.id }}
      label="Change"
      of="the billing identifier"
      title={`Billing identifier of ${it.name}`}
      submit="Save"
      done="Saved"
      fields={
        <Field
          scope={`billing-${it.id}`}
          name="billingServiceId"
          label="Billing identifier"
          value={it.billingServiceId}
          nullable
          mono
          hint="As the billing system knows the service, for example whmcs:4711."
        />
      }
    />
  </Setting>
)

const Rebuild = ({ instance: it }: InArea) => (
  <Setting op={rebuildInstance} title="Rebuild" words={`Make it anew from an image. Now: ${it.image.name}.`}>
    <Action
      op={rebuildInstance}
      params={{ id: it.id }}
      label="Rebuild"
      icon="reinstall"
      tone="bad"
      title={`Rebuild ${it.name}`}
      submit="Rebuild instance"
      done="The rebuild has begun"
      disabledReason={
        away(it) ?? disabledReason(it, 'rebuild') ?? (it.images.length === 0 && 'Its offer has no image on sale.')
      }
      confirm={{
        consequences: [
          'Its programs end now.',
          'Files under /workspace stay. Everything else in it is lost.',
          'Its address, ports, keys and cards stay.',
        ],
      }}
      fields={
        <Select
          scope={`rebuild-${it.id}`}
          name="imageId"
          label="Image"
          value={it.images.some(({ id }) => id === it.image.id) ? it.image.id : it.images[0]?.id}
          options={it.images.map(({ id, name }) => ({ value: id, label: name }))}
        />
      }
    />
  </Setting>
)

const Suspend = ({ instance: it }: InArea) =>
  it.status === 'suspended' ? (
    <Setting op={unsuspendInstance} title="Suspension" words={it.suspendReason ?? 'Suspended.'}>
      <Action
        op={unsuspendInstance}
        params={{ id: it.id }}
        label="Unsuspend"
        done={`${it.name} is no longer suspended`}
        disabledReason={disabledReason(it, 'unsuspend')}
      />
    </Setting>
  ) : (
    <Setting op={suspendInstance} title="Suspension" words="Stops it until it is unsuspended; its cards stay held.">
      <Action
        op={suspendInstance}
        params={{ id: it.id }}
        label="Suspend"
        tone="bad"
        title={`Suspend ${it.name}`}
        submit="Suspend"
        done={`${it.name} is suspended`}
        // A suspension ends the job that works on it.
        disabledReason={disabledReason({ ...it, job: null }, 'suspend')}
        confirm={{
          consequences: [
            'It is stopped, and its owner cannot start it.',
            'Its cards stay held, and the time counts on.',
          ],
        }}
        fields={<Field scope={`suspend-${it.id}`} name="reason" label="Reason" required hint="The owner reads it." />}
      />
    </Setting>
  )

const Delete = ({ instance: it, area }: InArea) => (
  <Setting
    op={area === '/admin' ? deleteInstance : deleteOwnInstance}
    title="Delete"
    words="Gives its cards back and ends its billing. /workspace is deleted with it."
  >
    <DeleteButton instance={it} area={area} />
  </Setting>
)
