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
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { type Answers, ifNamed, reading } from '../../../src/kernel/web/page.ts'
import { Action, Edit } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Checks } from '../../components/choices.tsx'
import { Field, Select, TextArea } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { span } from '../../components/time.tsx'
import { count, list } from '../../components/words.ts'
import { BillingService, Rename, RestartPolicy } from '../workloads/settings.tsx'
import { Setting } from '../workloads/settings-entry.tsx'
import { DeleteButton, HELD } from './actions.tsx'
import { instancePage } from './area.ts'
import { InstanceFrame, instanceReads } from './frame.tsx'
import { away, disabledReason, type Instance } from './words.ts'

const reads = {
  ...instanceReads,
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
    <Rename op={renameInstance} of={data.instance} />
    <Keys {...data} />
    <Environment {...data} />
    <HttpPorts {...data} />
    <IdleStop {...data} />
    <RestartPolicy
      op={setInstanceRestartPolicy}
      of={data.instance}
      ends="ends by itself"
      title="If it exits"
      hint="An instance that was stopped in the panel stays off."
      disabledReason={disabledReason(data.instance, 'restart_policy')}
    />
    <BillingService op={setInstanceBillingService} of={data.instance} />
    <Rebuild {...data} />
    <Suspend {...data} />
    <Delete {...data} />
  </div>
)

const Keys = ({ instance, keys, area }: InArea) => (
  <Setting
    op={setInstanceKeys}
    title="SSH keys"
    words={
      instance.sshKeys.length > 0 ? list(instance.sshKeys.map(({ name }) => name)) : 'None: nobody can log in over SSH.'
    }
  >
    {keys && (
      <Edit
        op={setInstanceKeys}
        params={{ id: instance.id }}
        of="the SSH keys"
        title={`SSH keys of ${instance.name}`}
        done="The keys are being changed"
        disabledReason={away(instance) ?? disabledReason(instance, 'ssh_keys')}
        fields={
          <Checks
            scope={`keys-${instance.id}`}
            name="sshKeyIds"
            label="Keys that may log in as root"
            hint="At once and without a restart. Sessions of keys that are taken away end."
            values={instance.sshKeys.map(({ id }) => id)}
            options={keys.data.map(({ id, name, fingerprint }) => ({
              value: id,
              label: name,
              hint: <span class="mono">{fingerprint}</span>,
            }))}
            empty={
              <span class="muted">
                There is no key yet.{' '}
                <Link href={area === '' ? '/account/ssh-keys' : `${area}/customers/${instance.owner.id}#keys`}>
                  Add one
                </Link>
              </span>
            }
          />
        }
      />
    )}
  </Setting>
)

const Environment = ({ instance }: InArea) => (
  <Setting
    op={setInstanceEnvironment}
    title="Environment and command"
    words={
      <>
        {count(instance.environment?.length ?? 0, 'variable')}
        {instance.command ? `, ${instance.command.join(' ')}` : ", the image's own command"}
      </>
    }
  >
    {instance.environment && (
      <Edit
        op={setInstanceEnvironment}
        params={{ id: instance.id }}
        of="environment and command"
        title={`Environment and command of ${instance.name}`}
        done="Saved; the next start uses them"
        wide
        disabledReason={disabledReason(instance, 'environment')}
        fields={
          <>
            <TextArea
              scope={`environment-${instance.id}`}
              name="environment"
              label="Environment variables"
              as="lines"
              mono
              rows={6}
              value={instance.environment.join('\n')}
              hint="One in each line, as NAME=value. They replace what the image sets under the same name."
            />
            <TextArea
              scope={`command-${instance.id}`}
              name="command"
              label="Command"
              as="lines"
              mono
              rows={3}
              value={instance.command?.join('\n')}
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
const HttpPorts = ({ instance }: InArea) =>
  instance.httpDomain !== null && (
    <Setting
      op={setInstanceHttpPorts}
      title="HTTP names"
      words={
        instance.httpPorts.length > 0
          ? `For ${instance.httpPorts.length > 1 ? 'ports' : 'port'} ` +
            `${list(instance.httpPorts.map(({ port }) => String(port)))}.`
          : 'None: no port is reached by a name of its own.'
      }
    >
      <Edit
        op={setInstanceHttpPorts}
        params={{ id: instance.id }}
        of="the HTTP names"
        title={`HTTP names of ${instance.name}`}
        done="Saved; the names change within seconds"
        disabledReason={disabledReason(instance, 'http_ports')}
        fields={
          <>
            <Field
              scope={`http-${instance.id}`}
              name="httpPorts"
              label="Ports with a name"
              as="numbers"
              value={instance.httpPorts.map(({ port }) => port).join(', ')}
              placeholder="8888, 7860"
              hint="Ports of the container where a program speaks HTTP, at most ten."
            />
            <p class="hint">
              Each gets a link under {instance.httpDomain} that anyone can open. Let your programs ask for a password or
              a token.
            </p>
          </>
        }
      />
    </Setting>
  )

const IdleStop = ({ instance, idle }: InArea) => (
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
    <Edit
      op={setIdleStop}
      params={{ id: instance.id }}
      of="the stop when idle"
      title={`Stop ${instance.name} when idle`}
      fields={
        <>
          <Field
            scope={`idle-${instance.id}`}
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

const Rebuild = ({ instance }: InArea) => (
  <Setting op={rebuildInstance} title="Rebuild" words={`Rebuild from an image. Current: ${instance.image.name}.`}>
    <Action
      op={rebuildInstance}
      params={{ id: instance.id }}
      label="Rebuild"
      icon="reinstall"
      tone="bad"
      title={`Rebuild ${instance.name}`}
      submit="Rebuild instance"
      done="The rebuild has begun"
      disabledReason={
        away(instance) ??
        disabledReason(instance, 'rebuild') ??
        (instance.images.length === 0 && 'Its offer has no image on sale.')
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
          scope={`rebuild-${instance.id}`}
          name="imageId"
          label="Image"
          value={
            instance.images.some(({ id }) => id === instance.image.id) ? instance.image.id : instance.images[0]?.id
          }
          options={instance.images.map(({ id, name }) => ({ value: id, label: name }))}
        />
      }
    />
  </Setting>
)

const Suspend = ({ instance }: InArea) =>
  instance.status === 'suspended' ? (
    <Setting op={unsuspendInstance} title="Suspension" words={instance.suspendReason ?? 'Suspended.'}>
      <Action
        op={unsuspendInstance}
        params={{ id: instance.id }}
        label="Unsuspend"
        done={`${instance.name} is no longer suspended`}
        disabledReason={disabledReason(instance, 'unsuspend')}
      />
    </Setting>
  ) : (
    <Setting op={suspendInstance} title="Suspension" words="Stops it until it is unsuspended; its cards stay held.">
      <Action
        op={suspendInstance}
        params={{ id: instance.id }}
        label="Suspend"
        tone="bad"
        title={`Suspend ${instance.name}`}
        submit="Suspend"
        done={`${instance.name} is suspended`}
        // A suspension ends the job that works on it.
        disabledReason={disabledReason({ ...instance, job: null }, 'suspend')}
        confirm={{
          consequences: [
            'It is stopped, and its owner cannot start it.',
            'Its cards stay held, and the time counts on.',
          ],
        }}
        fields={
          <Field scope={`suspend-${instance.id}`} name="reason" label="Reason" required hint="The owner reads it." />
        }
      />
    </Setting>
  )

const Delete = ({ instance, area }: InArea) => (
  <Setting
    op={area === '/admin' ? deleteInstance : deleteOwnInstance}
    title="Delete"
    words="Gives its cards back and ends its billing. /workspace is deleted with it."
  >
    <DeleteButton instance={instance} area={area} />
  </Setting>
)
