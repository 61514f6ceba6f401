import type { NetworkConfigVersion } from '../../../src/catalog/images/hardware.ts'
import { Select } from '../../components/field.tsx'

/** The form in which a system reads its network, for the forms of images. */
export const NetworkConfigField = ({ scope, value }: { scope: string; value: NetworkConfigVersion }) => (
  <Select
    scope={scope}
    name="networkConfig"
    label="Network data"
    value={value}
    options={[
      { value: 'v1', label: 'Version 1, for most systems' },
      { value: 'v2', label: 'Version 2, for Debian 12 and systems with netplan' },
    ]}
    hint="The version of cloud-init network-config. Matters where a gateway is outside the network."
  />
)
