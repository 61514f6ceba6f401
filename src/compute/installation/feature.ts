import { feature } from '../../kernel/feature.ts'
import { installing, settingUp } from './install.ts'
import { reinstalling, reinstallOptions, reinstallServer } from './reinstall.ts'
import { setupServer } from './setup.ts'
import { installationActions } from './states.ts'
import { interruptedInstallations } from './tables.ts'

const errors = {
  disk_too_small: {
    status: 422,
    when: 'The image needs a bigger disk than the package has.',
    remedy: 'Choose another package or image.',
  },
  no_room_to_reinstall: {
    status: 409,
    when: 'The node has no space for a second disk beside the present one; `details.neededGb` is its size.',
    details: { neededGb: 25 },
    remedy: 'Send `discardFirst: true` to have the old system deleted first, or have space made on the node.',
  },
  image_not_supported: {
    status: 409,
    when: 'The node, or every node of the location, lacks the firmware or the TPM that the image needs.',
    remedy: 'Choose another image or location; staff install ovmf, swtpm and swtpm-tools on a node.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    installation: { errors: typeof errors }
  }
}

/** Causes of failed jobs, in words for everybody. `true`: the job's own message is for everybody. */
const failures = {
  encrypted_for_another:
    'The node has another key since the password was made. Start the job again for a new password.',
  no_room_to_reinstall: true,
  no_seed: 'The data for the first boot is missing on the node.',
} as const

export const installationFeature = feature({
  name: 'installation',
  workloadActions: [installationActions],
  errors,
  failures,
  tables: [interruptedInstallations],
  jobs: [installing, settingUp, reinstalling],
  operations: [setupServer, reinstallOptions, reinstallServer],
})
