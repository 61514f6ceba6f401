// The table of settings that features declare: each value beside its default.
import type { Answers } from '../../../src/kernel/web/page.ts'
import { changeSetting, type listSettings } from '../../../src/platform/settings/defaults.ts'
import { Action } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Section } from '../../components/section.tsx'

type Setting = Answers<{ s: typeof listSettings }>['s']['settings'][number]

/** `24 hours`, `On`, or the words of a default that is no value. */
function said({ unit, defaultWords }: Setting, value: Setting['value']): string {
  if (value === null) return defaultWords ?? 'None'
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  return `${value.toLocaleString('en')}${unit ? ` ${unit}` : ''}`
}

export const Defaults = ({ of }: { of: readonly Setting[] }) => (
  <Section id="defaults" title="Limits and defaults" flush>
    <div class="rows wrap">
      {of.map((setting) => (
        <div>
          <div class="grow">
            <b>{setting.title}</b>
            <small>{setting.words}</small>
            <small>
              Now: {said(setting, setting.value)}. Default: {said(setting, setting.default)}.
            </small>
          </div>
          <Change of={setting} />
        </div>
      ))}
    </div>
  </Section>
)

const Change = ({ of: s }: { of: Setting }) => (
  <Action
    op={changeSetting}
    params={{ of: s.name }}
    body={{ name: s.name }}
    label="Change"
    of={s.title}
    title={s.title}
    submit="Save"
    done="Saved"
    fields={typeof s.default === 'boolean' ? <Switch of={s} /> : <Whole of={s} />}
  />
)

const Switch = ({ of: s }: { of: Setting }) => (
  <Check
    scope={`setting-${s.name}`}
    name="value"
    label={s.title}
    checked={s.value === true}
    hint={`Default: ${said(s, s.default)}`}
  />
)

const Whole = ({ of: s }: { of: Setting }) => (
  <Field
    scope={`setting-${s.name}`}
    name="value"
    label={s.title}
    as="number"
    nullable
    value={s.value as number | null}
    min={s.minimum ?? 0}
    max={s.maximum ?? Number.MAX_SAFE_INTEGER}
    {...(s.unit && { unit: s.unit })}
    hint={`Empty: ${said(s, s.default)}`}
  />
)
