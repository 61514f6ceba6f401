# Changes the addresses of a running Linux for good, with the shell of BusyBox too. It asks which part of the system
# keeps the network of the card, and tells that; what nobody is known to keep lasts until the next boot.
#
# Parameters: the interface, its MAC address, the addresses with their prefix lengths, the gateways as
# `version,address,on-link`, the resolvers, and the addresses that it gives up; lists have spaces between. The last line
# is `by=` and who keeps the addresses. It may be run again.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
dev=$1 mac=$2 new=$3 gateways=$4 resolvers=$5 leave=$6
by=until_boot
has() { command -v "$1" >/dev/null 2>&1; }
# Those of a list that are of one version, with this between them.
of() {
  found=
  for one in $2; do
    case $one in *:*) is=6 ;; *) is=4 ;; esac
    [ "$is" = "$1" ] && found="$found${found:+$3}$one"
  done
  echo "$found"
}
# The gateway of a version, and whether it is on the link though in no network of the card.
via() { for one in $gateways; do case $one in "$1",*) one=${one#*,}; echo "${one%,*}" ;; esac; done; }
on_link() { for one in $gateways; do case $one in "$1",*,1) return 0 ;; esac; done; return 1; }

by_network_manager() {
  has nmcli || return 1
  active=$(nmcli -t -f UUID,DEVICE,NAME connection show --active 2>/dev/null |
    awk -F: -v d="$dev" '$2 == d { print; exit }')
  uuid=${active%%:*}
  [ -n "$uuid" ] || return 1
  by=network_manager
  case $active in
    *:netplan-*)
      # Netplan makes it anew at each boot. A copy that is preferred is nobody else's.
      nmcli connection delete "addresses-$dev" >/dev/null 2>&1
      nmcli connection clone "$uuid" "addresses-$dev" || return 1
      uuid=$(nmcli -g connection.uuid connection show "addresses-$dev")
      set -- connection modify "$uuid" connection.autoconnect yes connection.autoconnect-priority 100
      ;;
    *) set -- connection modify "$uuid" ;;
  esac
  for version in 4 6; do
    list=$(of $version "$new" ,)
    if [ -n "$list" ]; then method=manual; elif [ $version = 4 ]; then method=disabled; else method=link-local; fi
    set -- "$@" "ipv$version.method" $method "ipv$version.addresses" "$list" "ipv$version.gateway" "$(via $version)" \
      "ipv$version.dns" "$(of $version "$resolvers" ,)"
    # Netplan gives it the old gateway as a route, beside which the new one would be half of the way out.
    routes=$(nmcli -e no -g "ipv$version.routes" connection show "$uuid" 2>/dev/null)
    without=$(echo "$routes" | awk -F ', *' '{
      for (n = 1; n <= NF; n++) if ($n !~ /^(0\.0\.0\.0|::)\/0( |$)/) { printf "%s%s", between, $n; between = ", " }
    }')
    [ "$without" = "$routes" ] || set -- "$@" "ipv$version.routes" "$without"
  done
  nmcli "$@" && nmcli connection up "$uuid"
}

by_networkd() {
  has networkctl || return 1
  case $(networkctl --no-pager --no-legend list "$dev" 2>/dev/null | awk '{ print $5 }') in
    configured | configuring | pending | routable | degraded | failed) ;;
    *) return 1 ;;
  esac
  by=networkd
  mkdir -p /etc/systemd/network || return 1
  # The first file that fits a card is its network, in the order of names: before netplan's 10-netplan-eth0.network.
  {
    echo '# Written when the addresses of this server changed.'
    echo '[Match]'
    echo "MACAddress=$mac"
    echo '[Network]'
    echo 'DHCP=no'
    echo 'IPv6AcceptRA=no'
    for one in $new; do echo "Address=$one"; done
    for one in $resolvers; do echo "DNS=$one"; done
    for version in 4 6; do
      [ -n "$(via $version)" ] || continue
      echo '[Route]'
      echo "Gateway=$(via $version)"
      if on_link $version; then echo 'GatewayOnLink=yes'; fi
    done
  } >"/etc/systemd/network/05-addresses-$dev.network" || return 1
  chmod 644 "/etc/systemd/network/05-addresses-$dev.network"
  networkctl reload && networkctl reconfigure "$dev" || systemctl restart systemd-networkd || return 1
  # It works on when this has returned, and would take away what `now` adds. An old one leaves the old addresses.
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    is_done && return 0
    sleep 1
  done
}

by_ifupdown() {
  [ -f /etc/network/interfaces ] || return 1
  files=$(grep -lE "^[[:space:]]*iface[[:space:]]+$dev(:[^[:space:]]+)?([[:space:]]|\$)" /etc/network/interfaces \
    /etc/network/interfaces.d/* 2>/dev/null)
  [ -n "$files" ] || return 1
  by=ifupdown
  for file in $files; do
    without=$(awk -v d="$dev" '
      $1 ~ /^(iface|auto|mapping|source|source-directory|rename|no-auto-down|no-scripts|template)$/ || $1 ~ /^allow-/ {
        skip = 0
      }
      $1 == "iface" && ($2 == d || index($2, d ":") == 1) { skip = 1 }
      ($1 == "auto" || $1 ~ /^allow-/) && NF == 2 && index($2, d ":") == 1 { next }
      !skip { print }' "$file") || return 1
    printf '%s\n' "$without" >"$file" || return 1
  done
  {
    grep -qsE "^[[:space:]]*(auto|allow-[a-z]+)[[:space:]](.*[[:space:]])?$dev([[:space:]]|\$)" \
      /etc/network/interfaces /etc/network/interfaces.d/* || echo "auto $dev"
    for version in 4 6; do
      first=yes
      family=inet
      [ $version = 6 ] && family=inet6
      for one in $(of $version "$new" ' '); do
        echo "iface $dev $family static"
        echo "    # Written when the addresses of this server changed."
        echo "    address $one"
        if [ $first = yes ] && [ -n "$(via $version)" ]; then
          if on_link $version; then
            echo "    up ip -$version route replace $(via $version) dev $dev"
            echo "    up ip -$version route replace default via $(via $version) dev $dev"
          else
            echo "    gateway $(via $version)"
          fi
        fi
        if [ $first = yes ] && [ -n "$(of $version "$resolvers" ' ')" ]; then
          echo "    dns-nameservers $(of $version "$resolvers" ' ')"
        fi
        first=no
      done
    done
  } >>/etc/network/interfaces
}

by_sysconfig() {
  file=/etc/sysconfig/network-scripts/ifcfg-$dev
  [ -f "$file" ] || return 1
  by=sysconfig
  theirs='BOOTPROTO|IPADDR[0-9]*|PREFIX[0-9]*|NETMASK[0-9]*|GATEWAY[0-9]*|IPV6[A-Z_]*|DNS[0-9]+|DHCP[A-Z_]*'
  kept=$(grep -vE "^($theirs)=" "$file")
  {
    printf '%s\n' "$kept"
    echo BOOTPROTO=none
    n=0
    for one in $(of 4 "$new" ' '); do
      echo "IPADDR$n=${one%/*}"
      echo "PREFIX$n=${one#*/}"
      n=$((n + 1))
    done
    [ -n "$(via 4)" ] && echo "GATEWAY=$(via 4)"
    set -- $(of 6 "$new" ' ')
    if [ $# -gt 0 ]; then
      echo IPV6INIT=yes
      echo IPV6_AUTOCONF=no
      echo "IPV6ADDR=$1"
      shift
      [ $# -gt 0 ] && echo "IPV6ADDR_SECONDARIES=\"$*\""
      [ -n "$(via 6)" ] && echo "IPV6_DEFAULTGW=$(via 6)"
    fi
    n=1
    for one in $resolvers; do
      echo "DNS$n=$one"
      n=$((n + 1))
    done
  } >"$file"
}

# Has the running system all of it, and nothing that it gives up?
is_done() {
  has_now=" $(ip -o address show dev "$dev" | awk '$3 ~ /^inet/ { printf "%s ", $4 }')"
  for one in $new; do case $has_now in *" $one "*) ;; *) return 1 ;; esac; done
  for one in $leave; do
    case " $new" in *" $one/"*) continue ;; esac
    case $has_now in *" $one/"*) return 1 ;; esac
  done
  for version in 4 6; do
    to=$(via $version)
    [ -n "$to" ] || continue
    [ "$(ip -$version route | awk -v d="$dev" '$1 == "default" && $5 == d { printf "%s", $3 }')" = "$to" ] || return 1
  done
}

# The running system. An address that is there already, or already gone, is as it should be.
add_all() {
  for one in $new; do
    case $one in
      *:*) ip address add "$one" dev "$dev" nodad 2>/dev/null || ip address add "$one" dev "$dev" 2>/dev/null ;;
      *) ip address add "$one" dev "$dev" 2>/dev/null ;;
    esac
  done
}
now() {
  add_all
  for one in $(ip -o address show dev "$dev" | awk '$3 ~ /^inet/ { print $4 }'); do
    for old in $leave; do
      case " $new " in *" $one "*) continue ;; esac
      [ "${one%/*}" = "$old" ] && ip address del "$one" dev "$dev"
    done
  done
  # Those of the network of an address go with it.
  add_all
  for version in 4 6; do
    while ip -$version route del default dev "$dev" 2>/dev/null; do :; done
    to=$(via $version)
    [ -n "$to" ] || continue
    if on_link $version; then ip -$version route replace "$to" dev "$dev"; fi
    ip -$version route replace default via "$to" dev "$dev" || return 1
  done
}

# At its next boot cloud-init would write over it: the network of its first boot, or DHCP where the medium with that is
# gone. One that has its network from us, by a seed of a job, gets every change by another seed, and stays as it is.
keep_cloud_init_out() {
  [ -d /etc/cloud/cloud.cfg.d ] && [ $by != until_boot ] || return 0
  case $(cat /var/lib/cloud/data/instance-id 2>/dev/null) in job_*) return 0 ;; esac
  echo 'network: {config: disabled}' >/etc/cloud/cloud.cfg.d/99-network-by-berth.cfg
}

by_network_manager || {
  [ $by = until_boot ] || exit 1
  by_networkd || [ $by = until_boot ] || exit 1
  if [ $by = until_boot ]; then by_ifupdown || [ $by = until_boot ] || exit 1; fi
  if [ $by = until_boot ]; then by_sysconfig || [ $by = until_boot ] || exit 1; fi
  is_done || now || exit 1
}
keep_cloud_init_out || exit 1
echo "by=$by"
