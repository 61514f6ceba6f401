// The table of settings that features declare: each value beside its default.
import { settingInWords } from '../../../src/kernel/setting.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { changeSetting, type listSettings } from '../../../src/platform/settings/defaults.ts'
import { Edit } from '../../components/action.tsx'
import { Check, Field } from '../../components/field.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'

type Setting = Answers<{ s: typeof listSettings }>['s']['settings'][number]

export const Defaults = ({ of }: { of: readonly Setting[] }) => (
  <Section id="defaults" title="Limits and defaults" flush>
    <div class="rows wrap">
      {of.map((setting) => (
        <div>
          <div class="grow">
            <b>{setting.title}</b>
            <small>{setting.words}</small>
            <small>
              Now: {settingInWords(setting, setting.value)}. Default: {settingInWords(setting, setting.default)}.
              <Waiting of={setting} />
            </small>
          </div>
          <Change of={setting} />
        </div>
      ))}
    </div>
  </Section>
)

const waits =
  'weakens a protection: all owners are told, and it takes effect after 24 hours, or when another owner confirms it.'
const weakening = {
  higher: `A higher value ${waits}`,
  lower: `A lower value ${waits}`,
  on: `Switching it on ${waits}`,
  off: `Switching it off ${waits}`,
}

const Waiting = ({ of: s }: { of: Setting }) =>
  s.waiting && (
    <>
      {' '}
      To be: {settingInWords(s, s.waiting.value)}, <Time iso={s.waiting.takesEffectAt} />, unless it is taken back.
    </>
  )

const Change = ({ of: s }: { of: Setting }) => (
  <Edit
    op={changeSetting}
    params={{ of: s.name }}
    body={{ name: s.name }}
    of={s.title}
    title={s.title}
    done={s.weakens === 'never' ? 'Saved' : 'Saved; what weakens a protection waits'}
    {...(s.weakens !== 'never' && { confirm: { consequences: [weakening[s.weakens]] } })}
    fields={typeof s.default === 'boolean' ? <Switch of={s} /> : <Whole of={s} />}
  />
)

const Switch = ({ of: s }: { of: Setting }) => (
  <Check
    scope={`setting-${s.name}`}
    name="value"
    label={s.title}
    checked={s.value === true}
    hint={`Default: ${settingInWords(s, s.default)}`}
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
    hint={`Empty: ${settingInWords(s, s.default)}`}
  />
)
