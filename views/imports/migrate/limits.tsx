// The fields of the limits of an import, and the actions that start it and change how it goes on.
import { changeLimits, continueImport, pauseImport, stopImportAfter } from '../../../src/imports/migrate/going.ts'
import { startImport } from '../../../src/imports/migrate/start.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Check, Field, Select } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'
import { Points } from '../imports/points.tsx'
import { type Import, titleOf } from '../imports/words.tsx'

type Of = { of: Import }

const Limits = ({ of, scope }: Of & { scope: string }) => {
  const { limits } = of
  return (
    <div class="fields">
      <Field
        scope={scope}
        name="perHypervisor"
        label="From one hypervisor at once"
        as="number"
        required
        unit="servers"
        min={1}
        max={16}
        value={limits.perHypervisor}
      />
      <Field
        scope={scope}
        name="perNode"
        label="To one node at once"
        as="number"
        required
        unit="servers"
        min={1}
        max={16}
        value={limits.perNode}
      />
      <Field
        scope={scope}
        name="maxMbps"
        label="At most, for each copy"
        as="number"
        nullable
        unit="Mbit/s"
        min={1}
        placeholder="as fast as it goes"
        value={limits.maxMbps}
      />
      <Select
        scope={scope}
        name="method"
        label="How"
        value={limits.method}
        options={[
          { value: 'short_stop', label: 'Short stop: copied while it runs' },
          { value: 'plain', label: 'Plain: copied while it is off' },
        ]}
      />
    </div>
  )
}

/** The hours within which servers begin. `required`: in a form that is about them alone. */
const Window = ({ of: { limits }, scope, required }: Of & { scope: string; required?: boolean }) => (
  <div class="fields">
    <Field
      scope={scope}
      name="window.from"
      label="Begin from"
      type="time"
      required={required}
      value={limits.window?.from}
    />
    <Field scope={scope} name="window.to" label="Until" type="time" required={required} value={limits.window?.to} />
    <Field
      scope={scope}
      name="window.timeZone"
      label="Time zone"
      required={required}
      placeholder="Europe/Berlin"
      value={limits.window?.timeZone}
    />
  </div>
)

export const Pause = ({ of }: Of) =>
  of.actions.includes('pause') && of.pausedAt === null && of.stopsAfter === null ? (
    <Action
      op={pauseImport}
      params={{ id: of.id }}
      label="Pause"
      icon="hold"
      done="Paused: no further server begins. Those at work come to their end."
    />
  ) : null

export const Continue = ({ of }: Of) =>
  of.actions.includes('continue') && (of.pausedAt !== null || of.stopsAfter !== null) ? (
    <Action op={continueImport} params={{ id: of.id }} label="Go on" icon="play" tone="pri" done="It goes on" />
  ) : null

export const StopAfter = ({ of }: Of) =>
  of.actions.includes('stop-after') && of.stopsAfter === null ? (
    <Action
      op={stopImportAfter}
      params={{ id: of.id }}
      label="Stop after these"
      icon="stop"
      inMenu
      done="It ends after the servers at work"
      confirm={{
        keep: 'Go on',
        consequences: [
          'The servers at work come to their end, each as if nothing had been stopped.',
          'Those that have not begun stay on the source, and run there as before.',
          'You can go on later, until the import is finished.',
        ],
      }}
    />
  ) : null

export const ChangeLimits = ({ of }: Of) =>
  of.actions.includes('limit') ? (
    <Action
      op={changeLimits}
      params={{ id: of.id }}
      label="Change limits"
      icon="settings"
      inMenu
      submit="Change"
      done="The limits are changed. Copies at work keep theirs within seconds."
      fields={<Limits of={of} scope="limits" />}
    />
  ) : null

export const ChangeWindow = ({ of }: Of) =>
  of.actions.includes('limit') ? (
    <>
      <Action
        op={changeLimits}
        params={{ id: of.id }}
        part="window"
        label="Change the window"
        icon="history"
        inMenu
        submit="Change"
        done="The window is changed"
        fields={<Window of={of} scope="window" required />}
      />
      {of.limits.window && (
        <Action
          op={changeLimits}
          params={{ id: of.id }}
          body={{ window: null }}
          label="Begin at any time"
          icon="play"
          inMenu
          done="Servers begin at any time"
        />
      )}
    </>
  ) : null

const points = (of: Import) =>
  [
    [
      'server',
      `${count(of.servers['ready']!, 'server')} will move`,
      'One after another, within the limits below. Each is off for a short time only, as the dry run has said.',
    ],
    [
      'history',
      'Whatever fails runs at the source as before',
      'A server that fails stops no other. Nothing is deleted or overwritten at the source.',
    ],
    ['restart', 'You can roll back', 'Until you finish the import, each server can go back to its source.'],
  ] as const

/** The price of the start, its limits, and the button. */
export const Start = ({ of }: Of) => (
  <Section id="start" title="Start" first>
    <Points of={points(of)} />
    <CallForm op={startImport} params={{ id: of.id }} done={`${titleOf(of)} has begun`} class="stack start">
      <Limits of={of} scope="start" />
      <Window of={of} scope="start" />
      <p class="hint">Hours are optional. A server that has begun comes to its end after them.</p>
      <Check
        scope="start"
        name="emailsOwners"
        label="Tell owners by mail"
        checked={of.emailsOwners}
        hint={
          <>
            Those messages that are turned on go out:{' '}
            <Link to="/admin/imports/{id}/messages" params={{ id: of.id }}>
              read and change them
            </Link>
            .
          </>
        }
      />
      <div class="bar">
        <button class="btn pri">
          <Icon name="play" />
          {`Move ${count(of.servers['ready']!, 'server')}`}
        </button>
        <span class="muted">You can pause at any time, and change the limits and the hours.</span>
      </div>
    </CallForm>
  </Section>
)
