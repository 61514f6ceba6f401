{if $server}
  <table class="table">
    <tr><th>Name</th><td>{$server.name|escape}</td></tr>
    <tr><th>State</th><td>{$server.status|escape}</td></tr>
    <tr><th>Package</th><td>{$server.package.name|escape}: {$server.vcpus} vCPU, {$server.memoryMb} MB, {$server.diskGb} GB</td></tr>
    <tr><th>Location</th><td>{$server.location.name|escape}</td></tr>
    {foreach $server.addresses as $address}<tr><th>Address</th><td>{$address.address|escape}</td></tr>{/foreach}
    {if $server.sshCommand}<tr><th>SSH</th><td><code>{$server.sshCommand|escape}</code></td></tr>{/if}
  </table>
{else}
  <p>{$problem|escape}</p>
{/if}
