// A new import: which panel, its address and its credentials. Nothing is sent there before somebody reads it.
import { createImport } from '../../../src/imports/imports/imports.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Section } from '../../components/section.tsx'
import { list } from '../../components/words.ts'
import { Credentials, type Panel, panelsRead } from './actions.tsx'
import { Points } from './points.tsx'
import { importFiles, importsTrail } from './words.tsx'

export const newImportPage = page({
  path: '/admin/imports/new',
  reads: { panels: panelsRead },
  title: 'New import',
  nav: 'imports',
  files: importFiles,
  view: ({ panels }) => <NewImport panels={panels.panels} />,
})

function NewImport({ panels }: { panels: readonly Panel[] }) {
  const { query } = useAt()
  const panel = panels.find(({ kind }) => kind === query['kind']) ?? panels[0]
  return (
    <>
      <Head
        title="New import"
        trail={importsTrail}
        sub={
          <span>
            Reading takes minutes and changes nothing on the other panel. You decide everything before a server moves.
          </span>
        }
      />
      <div class="split">
        <Section id="connect" title="Connect" quiet first>
          {panel && <ConnectForm panels={panels} panel={panel} />}
        </Section>
        <div>
          <WhatHappens />
          <BeforeYouStart />
        </div>
      </div>
    </>
  )
}

const ConnectForm = ({ panels, panel }: { panels: readonly Panel[]; panel: Panel }) => (
  <CallForm op={createImport} redraws class="stack l" done="The import is begun" leadsTo="/admin/imports/{id}">
    <Radios
      scope="new"
      name="kind"
      label="Which panel"
      value={panel.kind}
      options={panels.map(({ kind, label, credentials }) => ({
        value: kind,
        label,
        hint: list(credentials.map((one) => one.label)),
      }))}
    />
    <Field
      scope="new"
      name="address"
      label="Address with port"
      required
      mono
      inputmode="url"
      placeholder={panel.addressExample}
      hint={`${panel.hint} Private addresses are fine, link-local ones are refused.`}
    />
    <Credentials panel={panel} scope={`new-${panel.kind}`} />
    <Field
      scope="new"
      name="name"
      label="Name"
      hint="Shown in the list and in the audit log. You can change it at any time."
    />
    <p class="hint">
      Credentials are stored encrypted, shown to nobody, and deleted when you cancel. Saving sends nothing: the next
      page asks you before the panel is read.
    </p>
    <div class="bar">
      <button class="btn pri">
        <Icon name="next" />
        Save and continue
      </button>
    </div>
  </CallForm>
)

const next = [
  ['Connect', 'The certificate of the panel is shown, and you compare it'],
  ['Discover', 'Hypervisors, packages, ranges, owners and servers are read'],
  ['Decide', 'What becomes of packages, ranges, locations and owners'],
] as const
const WhatHappens = () => (
  <Section id="next" title="What happens next">
    <ol class="steps">
      {next.map(([title, words], i) => (
        <li class={i ? undefined : 'now'} aria-current={i ? undefined : 'step'}>
          <span>{title}</span>
          <small>{words}</small>
        </li>
      ))}
    </ol>
  </Section>
)

const before = [
  [
    'shield',
    'Allow this controller',
    'If the credentials are limited by address, allow the address of this controller there.',
  ],
  ['key', 'Credentials of an administrator', 'Those of other users show fewer servers without saying so.'],
  ['lock', 'Nothing to lose', 'An import sends requests that read, and no others. Both panels stay as they are.'],
] as const
const BeforeYouStart = () => (
  <Section id="before" title="Before you start">
    <Points of={before} />
  </Section>
)
