/** The character that it writes. */
export const WRITTEN = 'G'
/** How much it writes at a time, from 1 MiB on. */
export const WRITE_BYTES = 32 << 10
export const FIRST_WRITE_AT = 1 << 20
/** Where it says that all is written, and that a write failed, as one sector of `WRITTEN`. */
export const [ENDED_AT, FAILED_AT] = [512, 1024] as const

const WRITES_AT = 0x1e0
/**
 *     xor ax,ax; mov ds,ax; mov es,ax; mov ss,ax; mov sp,0x7c00; cld
 *     mov di,0x8000; mov ax,'GG'; mov cx,0x4000; rep stosw; mov ebp,[writes]
 *     next: mov ah,0x43; call io; add dword [lba],64; dec ebp; jnz next
 *     mov dword [lba],1; mov word [count],1; mov ah,0x43; call io
 *     end: hlt; jmp end
 *     io: mov al,0; mov si,packet; int 0x13; jc failed; ret
 *     failed: mov dword [lba],2; mov word [count],1; mov ah,0x43; mov al,0; mov si,packet; int 0x13; jmp end
 */
const CODE =
  '31c08ed88ec08ed0bc007cfcbf0080b84747b90040f3ab668b2ee07db443e8210066' +
  '8306ec7d40664d75f166c706ec7d01000000c706e67d0100b443e80300f4ebfdb000' +
  'bee47dcd137201c366c706ec7d02000000c706e67d0100b443b000bee47dcd13ebd9'
/** The request to the firmware: 64 sectors from 0x8000 to sector 2048. */
const PACKET = '100040000080000000080000' + '00000000'

/** A system of one sector. It writes this many times by the firmware, and waits for each write as long as it takes. */
export function bootSector(writes: number): Buffer {
  const sector = Buffer.alloc(512)
  sector.write(CODE, 0, 'hex')
  sector.writeUInt32LE(writes, WRITES_AT)
  sector.write(PACKET, WRITES_AT + 4, 'hex')
  sector.writeUInt16LE(0xaa55, 510)
  return sector
}
