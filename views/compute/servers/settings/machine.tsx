// The entries “CD drive” and “Boot order” of a server's settings, and the machine on which it was installed.
import type { listIsos } from '../../../../src/compute/isos/library.ts'
import { type getHardware, setBootOrder } from '../../../../src/compute/servers/settings/boot-order.ts'
import { setIso } from '../../../../src/compute/servers/settings/iso.ts'
import type { Answers, At } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Action } from '../../../components/action.tsx'
import { Select } from '../../../components/field.tsx'
import { Setting } from '../../workloads/settings-entry.tsx'
import { away } from '../power-buttons.tsx'
import { disabledReason, type Server } from '../words.ts'

type Hardware = Answers<{ h: typeof getHardware }>['h']
type Isos = Answers<{ i: typeof listIsos }>['i']['data']
type Props = { server: Server; hardware: Hardware; isos: Isos }

export const Machine = ({ server: s, hardware, isos }: Props) => (
  <>
    <CdDrive server={s} hardware={hardware} isos={isos} />
    <BootOrder server={s} hardware={hardware} />
  </>
)

const firmwareWords = { bios: 'BIOS', uefi: 'UEFI', uefi_secure: 'UEFI with Secure Boot' } as const
/** As `Machine q35, UEFI, TPM 2.0`; the model of the machine means something to staff alone. */
const machineWords = ({ machine, firmware, tpm }: Hardware, { actor }: Pick<At, 'actor'>) =>
  [actor.kind === 'staff' && `Machine ${machine}`, firmwareWords[firmware], tpm && 'TPM 2.0'].filter(Boolean).join(', ')

const CdDrive = ({ server: s, hardware: { iso }, isos }: Props) => (
  <Setting op={setIso} title="CD drive" words={iso ? iso.name : 'Empty'}>
    <Action
      op={setIso}
      params={{ id: s.id }}
      label={iso ? 'Change ISO' : 'Insert ISO'}
      title={`Insert an ISO into ${s.name}`}
      submit="Insert"
      done="The ISO is being inserted"
      disabledReason={
        away(s) ?? disabledReason(s, 'iso') ?? (isos.length ? undefined : 'There is no ISO yet. Add one under ISOs.')
      }
      fields={
        <Select
          scope={`iso-${s.id}`}
          name="isoId"
          label="ISO"
          value={iso?.id ?? isos[0]?.id ?? ''}
          options={isos.map((i) => ({ value: i.id, label: i.name }))}
          hint="A running server sees it at once. To boot from it, put the CD drive first and restart the server."
        />
      }
    />
    {iso && (
      <Action
        op={setIso}
        params={{ id: s.id }}
        body={{ isoId: null }}
        label="Eject"
        of={iso.name}
        done="The CD drive is being emptied"
        disabledReason={away(s) ?? disabledReason(s, 'iso')}
      />
    )}
  </Setting>
)

const BootOrder = ({ server: s, hardware }: Omit<Props, 'isos'>) => (
  <Setting
    op={setBootOrder}
    title="Boot order"
    words={
      `${hardware.bootFirst === 'cd' ? 'CD drive, then disk' : 'Disk, then CD drive'}. ` +
      `${machineWords(hardware, useAt())}.`
    }
  >
    <Action
      op={setBootOrder}
      params={{ id: s.id }}
      body={{ bootFirst: hardware.bootFirst === 'cd' ? 'disk' : 'cd' }}
      label={hardware.bootFirst === 'cd' ? 'Boot from disk first' : 'Boot from CD first'}
      disabledReason={away(s) ?? disabledReason(s, 'boot_order')}
      done="Saved. It applies when the server is next started or restarted in the panel"
    />
  </Setting>
)
