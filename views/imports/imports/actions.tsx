// Actions for an import as a whole.
import { discover } from '../../../src/imports/discovery/discover.ts'
import { dryRun } from '../../../src/imports/dry-run/result.ts'
import { cancelImport, listPanels, renameImport, setCredentials } from '../../../src/imports/imports/imports.ts'
import { type Answers, reading } from '../../../src/kernel/web/page.ts'
import { Action } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { count } from '../../components/words.ts'
import { type Import, titleOf } from './words.tsx'

export const panelsRead = reading(listPanels, () => ({}))
export type Panel = Answers<{ panels: typeof listPanels }>['panels']['panels'][number]

type Props = { of: Import; inMenu?: boolean }
const may = ({ actions }: Import, action: string) => actions.includes(action)

export const Rename = ({ of, inMenu = false }: Props) => (
  <Action
    op={renameImport}
    params={{ id: of.id }}
    label="Rename"
    icon="pencil"
    inMenu={inMenu}
    title={`Rename ${titleOf(of)}`}
    submit="Save"
    done="Saved"
    fields={
      <Field
        scope={`name-${of.id}`}
        name="name"
        label="Name"
        nullable
        value={of.name}
        hint="Shown in the list and in the audit log. Without one, the address is shown."
      />
    }
  />
)

/** The first reading needs no question; another one resets what was decided. */
export const Discover = ({ of, isPrimary }: { of: Import; isPrimary?: boolean }) => {
  const tone = isPrimary ? 'pri' : undefined
  const again = of.discoveredAt !== null
  if (!may(of, 'discover') || of.asksFor) return null
  return (
    <Action
      op={discover}
      params={{ id: of.id }}
      label={again ? 'Discover again' : 'Read the panel'}
      icon="refresh"
      tone={tone}
      done="The panel is being read"
      {...(again && {
        title: 'Read the panel again?',
        submit: 'Discover again',
        confirm: {
          keep: 'Keep what is decided',
          consequences: [
            'The panel is read from its beginning. Nothing is changed there.',
            'Everything that was decided is reset, and proposed anew where that is possible.',
            'Download the mapping as CSV first: uploaded afterwards, it decides the same again.',
            'You are shown what is new, gone or changed since the last time.',
          ],
        },
      })}
    />
  )
}

/** Checks everything again; nothing that is decided is reset. */
export const RunDryRun = ({ of, isPrimary = of.left.decisions === 0 }: { of: Import; isPrimary?: boolean }) =>
  may(of, 'dry-run') ? (
    <Action
      op={dryRun}
      params={{ id: of.id }}
      label={of.checkedAt === null ? 'Run dry run' : 'Run dry run again'}
      icon="play"
      tone={isPrimary ? 'pri' : undefined}
      done="The dry run has begun"
      leadsTo={`/admin/imports/${of.id}/dry-run`}
    />
  ) : null

export const Cancel = ({ of, inMenu = false }: Props) =>
  may(of, 'cancel') ? (
    <Action
      op={cancelImport}
      params={{ id: of.id }}
      label="Cancel import"
      icon="trash"
      tone="bad"
      inMenu={inMenu}
      title={`Cancel the import ${titleOf(of)}?`}
      done="The import is deleted"
      leadsTo="/admin/imports"
      confirm={{ keep: 'Keep it', consequences: deletedWith(of) }}
    />
  ) : null

function deletedWith({ servers, discoveredAt, hasCredentials, panel, left }: Import): string[] {
  return [
    ...(hasCredentials ? [`The stored credentials of ${panel} are deleted.`] : []),
    ...(discoveredAt
      ? [
          `All that was read is deleted: ${count(servers['total']!, 'server')} with their owners and addresses.`,
          `Everything that you decided is deleted${left.decisions ? ', and what is left to decide' : ''}.`,
        ]
      : []),
    `Nothing changes on ${panel}, and nothing here: no server has moved.`,
  ]
}

export const OtherCredentials = ({ of, panel, inMenu = false }: Props & { panel: Panel | undefined }) =>
  may(of, 'set-credentials') && panel ? (
    <Action
      op={setCredentials}
      params={{ id: of.id }}
      label="Other credentials"
      icon="key"
      inMenu={inMenu}
      title={`Credentials of ${of.panel}`}
      submit="Save"
      done="The credentials are stored"
      fields={<Credentials panel={panel} scope={`credentials-${of.id}`} />}
    />
  ) : null

/** Write-only: what is stored is shown nowhere. */
export const Credentials = ({ panel, scope }: { panel: Panel; scope: string }) => (
  <>
    {panel.credentials.map(({ name, label, hint }) => (
      <Field scope={scope} name={`credentials.${name}`} label={label} type="password" required hint={hint} />
    ))}
  </>
)
