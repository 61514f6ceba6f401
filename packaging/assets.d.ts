// Files of this folder that are embedded in the executable: the import is their text.
declare module '*.service' {
  const text: string
  export default text
}
declare module '*.path' {
  const text: string
  export default text
}
declare module '*.conf' {
  const text: string
  export default text
}
declare module '*/debian/control' {
  const text: string
  export default text
}
declare module '*/debian/preinst' {
  const text: string
  export default text
}
declare module '*/debian/postinst' {
  const text: string
  export default text
}
declare module '*/debian/prerm' {
  const text: string
  export default text
}
declare module '*/debian/postrm' {
  const text: string
  export default text
}
