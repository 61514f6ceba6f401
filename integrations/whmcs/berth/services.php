<?php
// What the module, its webhook and its hooks share: the connection, this installation of WHMCS, and the names of its
// services and clients in Berth.

if (!defined('WHMCS')) {
    die('This file cannot be accessed directly');
}

require_once __DIR__ . '/BerthClient.php';

use WHMCS\Database\Capsule;

/** Where WHMCS keeps the id of the server of a service, and when the last event that was taken over happened. */
const BERTH_SERVER = 'Berth server';
const BERTH_EVENT = 'Berth event';

function berth_client(array $params): BerthClient
{
    $port = (string) ($params['serverport'] ?? '');
    $secure = !empty($params['serversecure']);
    $address = ($secure ? 'https://' : 'http://') . $params['serverhostname'];
    if ($port !== '' && $port !== ($secure ? '443' : '80')) {
        $address .= ":$port";
    }
    $token = trim((string) $params['serveraccesshash']);
    $log = fn (string $method, string $path, mixed $sent, mixed $answer) =>
        logModuleCall('berth', "$method $path", $sent, $answer, $answer, [$token]);
    return new BerthClient($address, $token, $log);
}

/**
 * The id of this WHMCS. It is made once, and is the user name of every server entry of the module. Throws
 * `installation_copied` when the entry was made for another address of WHMCS: a copy would act on the original's servers.
 */
function berth_installation(int $serverId): string
{
    $url = (string) Capsule::table('tblconfiguration')->where('setting', 'SystemURL')->value('value');
    $host = strtolower((string) parse_url($url, PHP_URL_HOST));
    $entries = fn () => Capsule::table('tblservers')->where('type', 'berth');
    $names = berth_column($entries(), 'username');
    if (($names[$serverId] ?? '') === '') {
        // Of an original at another host nothing is taken over.
        $ofHere = fn () => array_filter(berth_column($entries(), 'username'), fn ($name) => $name !== '' && str_ends_with($name, "@$host"));
        if ($ofHere() === []) {
            // The first empty entry alone, so that two first calls at once make one id: the second finds nothing to change.
            $first = min(array_keys(array_filter($names, fn ($name) => $name === '')));
            $entries()->where('id', $first)->where('username', '')->update(['username' => BerthService::newInstallation($host)]);
        }
        $names = $ofHere();
        if (!isset($names[$serverId])) {
            $names[$serverId] = reset($names);
            $entries()->where('id', $serverId)->update(['username' => $names[$serverId]]);
        }
    }
    return BerthService::installationOf($names[$serverId], $host);
}

/** A column of rows, by their ids. */
function berth_column($query, string $column): array
{
    $values = [];
    foreach ($query->get() as $row) {
        $values[(int) $row->id] = (string) $row->$column;
    }
    return $values;
}

/** A service, or a product add-on, which is a service of its own. */
function berth_service(array $params): BerthService
{
    $installation = berth_installation((int) $params['serverid']);
    $isAddon = !empty($params['addonId']);
    $number = $isAddon ? "addon-{$params['addonId']}" : (string) $params['serviceid'];
    $former = $isAddon ? null : "whmcs:{$params['serviceid']}";
    return berth_serviceOf($installation, $number, (int) $params['userid'], $params['clientsdetails'], $former);
}

function berth_serviceOf(string $installation, string $number, int $clientId, array $client, ?string $former = null): BerthService
{
    return new BerthService(
        'whmcs',
        $installation,
        $number,
        (string) $clientId,
        trim("{$client['firstname']} {$client['lastname']}"),
        (string) $client['email'],
        (string) ($client['companyname'] ?? ''),
        $former,
        "whmcs:$clientId",
    );
}

/** The service of this installation that a name in Berth stands for, or null. @return ?array{kind: string, id: int} */
function berth_named(string $billingServiceId, string $installation): ?array
{
    if (!preg_match("/^whmcs:$installation:(addon-)?(\d{1,9})\$/D", $billingServiceId, $found)) {
        return null;
    }
    return ['kind' => $found[1] === '' ? 'service' : 'addon', 'id' => (int) $found[2]];
}
