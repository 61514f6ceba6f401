// The public keys with which distributions sign the checksums of their images. Their files and where each one comes
// from: keys/README.md.
import type { PublicKey } from '../../../kernel/crypto/openpgp.ts'
import almalinux8 from './keys/almalinux-8.asc' with { type: 'text' }
import almalinux9 from './keys/almalinux-9.asc' with { type: 'text' }
import almalinux10 from './keys/almalinux-10.asc' with { type: 'text' }
import archBoxes from './keys/arch-boxes.asc' with { type: 'text' }
import fedora43 from './keys/fedora-43.asc' with { type: 'text' }
import fedora44 from './keys/fedora-44.asc' with { type: 'text' }
import opensuse from './keys/opensuse.asc' with { type: 'text' }
import ubuntuCloudImages from './keys/ubuntu-cloud-images.asc' with { type: 'text' }

/** `owner`: the name in the key. */
export type SigningKey = PublicKey & { owner: string }

const key = (owner: string, fingerprint: string, armored: string): SigningKey => ({
  owner,
  fingerprint: fingerprint.replaceAll(' ', ''),
  armored,
})

export const signingKeys = {
  'ubuntu-cloud-images': key(
    'UEC Image Automatic Signing Key',
    'D2EB 4462 6FDD C30B 513D 5BB7 1A5D 6C4C 7DB8 7C81',
    ubuntuCloudImages,
  ),
  'almalinux-8': key('AlmaLinux OS 8', 'BC5E DDCA DF50 2C07 7F15 8288 2AE8 1E8A CED7 258B', almalinux8),
  'almalinux-9': key('AlmaLinux OS 9', 'BF18 AC28 7617 8908 D6E7 1267 D36C B86C B86B 3716', almalinux9),
  'almalinux-10': key('AlmaLinux OS 10', 'EE6D B7B9 8F5B F5ED D9DA 0DE5 DEE5 C11C C2A1 E572', almalinux10),
  'fedora-43': key('Fedora (43)', 'C6E7 F081 CF80 E131 4667 6E88 829B 6066 3164 5531', fedora43),
  'fedora-44': key('Fedora (44)', '36F6 12DC F27F 7D1A 48A8 35E4 DBFC F71C 6D9F 90A6', fedora44),
  opensuse: key('openSUSE Project Signing Key', 'AD48 5664 E901 B867 051A B15F 35A2 F86E 29B7 00A4', opensuse),
  'arch-boxes': key('arch-boxes', '1B9A 1698 4A4E 8CB4 4871 2D2A E0B7 8BF4 326C 6F8F', archBoxes),
} as const
export type SigningKeyName = keyof typeof signingKeys
