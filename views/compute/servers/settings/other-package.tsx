// The entry “Package” of a server's settings: what it has, and the packages that it can change to.
import { changeServerPackage } from '../../../../src/compute/servers/settings/change-package.ts'
import { Action } from '../../../components/action.tsx'
import { Radios } from '../../../components/choices.tsx'
import type { Option } from '../../../components/field.tsx'
import { exactGb, size } from '../../../components/words.ts'
import { Setting } from '../../workloads/settings-entry.tsx'
import { away } from '../power-buttons.tsx'
import { disabledReason, type Server } from '../words.ts'

type Offered = { id: string; name: string; vcpus: number; memoryMb: number; diskGb: number; archived: boolean }

const isSameSize = (s: Server, p: Offered) => s.vcpus === p.vcpus && s.memoryMb === p.memoryMb && s.diskGb === p.diskGb

/** Why the server cannot change to the package; undefined when it can. */
function obstacle(s: Server, p: Offered): string | undefined {
  if (p.id === s.package.id && isSameSize(s, p)) return 'It has this package.'
  return p.diskGb < s.diskGb ? `A disk cannot shrink from ${exactGb(s.diskGb)}.` : undefined
}

const optionsFor = (s: Server, offered: readonly Offered[]): Option[] =>
  offered
    .filter((p) => !p.archived || p.id === s.package.id)
    .toSorted((a, b) => a.memoryMb - b.memoryMb || a.vcpus - b.vcpus || a.diskGb - b.diskGb)
    .map((p) => ({ value: p.id, label: p.name, hint: size(p), why: obstacle(s, p) }))

export function ChangePackage({ server: s, offered }: { server: Server; offered: readonly Offered[] }) {
  const options = optionsFor(s, offered)
  const possible = options.some((o) => !o.why)
  return (
    <Setting op={changeServerPackage} title="Package" words={`${s.package.name}: ${size(s)}`}>
      <Action
        op={changeServerPackage}
        params={{ id: s.id }}
        label="Change package"
        wide
        title={`Change the package of ${s.name}`}
        disabledReason={
          away(s) ?? disabledReason(s, 'change_package') ?? (possible ? undefined : 'No other package fits its disk.')
        }
        done="The package is being changed"
        confirm={{
          keep: 'Keep this package',
          consequences: [
            s.status === 'running'
              ? 'Memory and vCPUs change when it is restarted here. A reboot from inside is not enough.'
              : 'Memory and vCPUs change at once.',
            'A larger disk is there at once; the system inside may have to enlarge its file system.',
            'Traffic and speed are those of the new package. Addresses and IPv6 prefix stay as they are.',
            'The disk can never shrink again.',
          ],
        }}
        fields={
          <Radios scope={`package-${s.id}`} name="packageId" label="New package" value={undefined} options={options} />
        }
      />
    </Setting>
  )
}
