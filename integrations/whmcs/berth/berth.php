<?php
// WHMCS provisioning module for Berth. The server in WHMCS has the panel's hostname, the API token as its access hash, the
// signing secret of the webhook as its password and the id of this installation as its user name. See README.md.

if (!defined('WHMCS')) {
    die('This file cannot be accessed directly');
}

require_once __DIR__ . '/services.php';

use WHMCS\Database\Capsule;
use WHMCS\Service\Addon;

function berth_MetaData(): array
{
    return [
        'DisplayName' => 'Berth',
        'APIVersion' => '1.1',
        'RequiresServer' => true,
        'DefaultNonSSLPort' => '8080',
        'DefaultSSLPort' => '443',
        'ServiceSingleSignOnLabel' => 'Open the panel',
        'ListAccountsUniqueIdentifierDisplayName' => 'Server',
        'ListAccountsUniqueIdentifierField' => 'customfield.' . BERTH_SERVER,
        'ListAccountsProductField' => 'configoption1',
    ];
}

function berth_ConfigOptions(): array
{
    $field = fn (string $loader, string $about) => [
        'Type' => 'text', 'Size' => '40', 'Loader' => $loader, 'SimpleMode' => true, 'Description' => $about,
    ];
    return [
        'Package' => $field('berth_LoadPackages', 'Processors, memory and disk.'),
        'Location' => $field('berth_LoadLocations', 'Where the server stands.'),
        'Image' => $field('berth_LoadImages', 'The system that is installed; the client chooses it later when there is none.'),
    ];
}

function berth_LoadPackages(array $params): array
{
    return array_column(berth_client($params)->offer()[0], 'name', 'id');
}

function berth_LoadLocations(array $params): array
{
    return array_column(berth_client($params)->offer()[1], 'name', 'id');
}

function berth_LoadImages(array $params): array
{
    $images = iterator_to_array(berth_client($params)->all('/images?limit=200'), false);
    return ['none' => 'None: the client chooses it'] + array_column($images, 'name', 'id');
}

function berth_TestConnection(array $params): array
{
    try {
        $missing = berth_client($params)->connection()['missingScopes'] ?? [];
        if ($missing !== []) {
            return ['success' => false, 'error' => 'Berth: the token lacks ' . implode(', ', $missing) . '.'];
        }
        // A server entry is tested before it is saved, too.
        if (!empty($params['serverid'])) {
            berth_installation((int) $params['serverid']);
        }
        return ['success' => true, 'error' => ''];
    } catch (BerthError $error) {
        return ['success' => false, 'error' => $error->words()];
    }
}

function berth_CreateAccount(array $params): string
{
    return berth_try(function () use ($params) {
        $image = berth_chosen($params, 'Image', 3, fn () => berth_LoadImages($params));
        $order = [
            'packageId' => berth_chosen($params, 'Package', 1, fn () => berth_LoadPackages($params)),
            'nodeGroupId' => berth_chosen($params, 'Location', 2, fn () => berth_LoadLocations($params)),
        ];
        if ($image !== '' && $image !== 'none') {
            $order += ['imageId' => $image, 'hostname' => berth_hostname($params), 'access' => ['mode' => 'password']];
        }
        $made = berth_client($params)->createOnce(berth_service($params), $order);
        $properties = $params['model']->serviceProperties;
        $saved = ['Dedicated IP' => (string) ($made['server']['ipv4'] ?? ''), 'Username' => $made['user']];
        if ($made['rootPassword'] !== null) {
            $saved['Password'] = $made['rootPassword'];
        } elseif ($properties->get(BERTH_SERVER) !== $made['serverId']) {
            // WHMCS made up a password before the order, and would mail it.
            $saved['Password'] = '';
        }
        // The server comes last: the password of a service that has it is the server's.
        $properties->save($saved);
        $properties->save([BERTH_SERVER => $made['serverId']]);
    });
}

function berth_SuspendAccount(array $params): string
{
    return berth_try(fn () => berth_client($params)->suspend(berth_server($params), (string) ($params['suspendreason'] ?? '')));
}

function berth_UnsuspendAccount(array $params): string
{
    return berth_try(fn () => berth_client($params)->unsuspend(berth_server($params)));
}

/** A service without a server is terminated already, unless the one that it had is there under another name. */
function berth_TerminateAccount(array $params): string
{
    return berth_try(function () use ($params) {
        $properties = $params['model']->serviceProperties;
        berth_client($params)->terminateOnce(berth_service($params), (string) $properties->get(BERTH_SERVER));
        $properties->save([BERTH_SERVER => '']);
    });
}

function berth_ChangePackage(array $params): string
{
    return berth_try(fn () => berth_client($params)->changePackage(
        berth_server($params),
        berth_chosen($params, 'Package', 1, fn () => berth_LoadPackages($params)),
    ));
}

function berth_ServiceSingleSignOn(array $params): array
{
    try {
        return ['success' => true, 'redirectTo' => berth_client($params)->signInLink(berth_ownServer($params))];
    } catch (BerthError $error) {
        return ['success' => false, 'errorMsg' => $error->words()];
    }
}

function berth_AdminCustomButtonArray(): array
{
    return ['Start' => 'Start', 'Shut down' => 'ShutDown', 'Restart' => 'Restart', 'Reset root password' => 'ResetPassword'];
}

function berth_ClientAreaCustomButtonArray(): array
{
    return berth_AdminCustomButtonArray();
}

function berth_Start(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'start'));
}

function berth_ShutDown(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'shutdown'));
}

function berth_Restart(array $params): string
{
    return berth_try(fn () => berth_client($params)->power(berth_server($params), 'restart'));
}

/** Berth makes the password, so this is a button and not WHMCS's own change of a password that somebody types. */
function berth_ResetPassword(array $params): string
{
    return berth_try(function () use ($params) {
        $made = berth_client($params)->resetPassword(berth_ownServer($params));
        $params['model']->serviceProperties->save(['Username' => $made['user'], 'Password' => $made['rootPassword']]);
    });
}

function berth_AdminServicesTabFields(array $params): array
{
    try {
        $server = berth_client($params)->call('GET', '/servers/' . berth_ownServer($params));
    } catch (BerthError $error) {
        return ['Berth' => htmlspecialchars($error->words())];
    }
    $fields = [
        'Server' => $server['id'],
        'Name in Berth' => (string) $server['billingServiceId'],
        'State' => $server['status'],
        'Package' => "{$server['package']['name']} ({$server['vcpus']} vCPU, {$server['memoryMb']} MB, {$server['diskGb']} GB)",
        'Location' => $server['location']['name'],
        'Addresses' => implode(', ', array_column($server['addresses'], 'address')),
    ];
    return array_map('htmlspecialchars', $fields);
}

function berth_ClientArea(array $params): array
{
    try {
        $server = berth_client($params)->call('GET', '/servers/' . berth_ownServer($params));
        return ['templatefile' => 'templates/overview', 'vars' => ['server' => $server, 'problem' => '']];
    } catch (BerthError $error) {
        $problem = 'The server cannot be shown now. Try again in a moment.';
        return ['templatefile' => 'templates/overview', 'vars' => ['server' => null, 'problem' => $problem]];
    }
}

/** The disks and this month's traffic of all services on this server, in MB. */
function berth_UsageUpdate(array $params): string
{
    return berth_try(function () use ($params) {
        $client = berth_client($params);
        $installation = berth_installation((int) $params['serverid']);
        $usage = $client->usage();
        foreach ($client->servers() as $server) {
            $named = berth_named((string) ($server['billingServiceId'] ?? ''), $installation);
            if ($named === null) {
                continue;
            }
            $traffic = $usage[$server['id']]['traffic'] ?? null;
            $megabytes = [
                'disklimit' => $server['diskGb'] * 1024,
                'bwlimit' => ($server['trafficGb'] ?? 0) * 1000,
                // What could not be measured stays as it was: 0 would be an answer.
                ...($traffic === null ? [] : ['bwusage' => berth_billedMegabytes($client, $server, $traffic)]),
            ];
            $isAddon = $named['kind'] === 'addon';
            $rows = Capsule::table($isAddon ? 'tblhostingaddons' : 'tblhosting');
            $row = $rows->where('id', $named['id'])->where('server', $params['serverid']);
            if (!$isAddon) {
                $row->update($megabytes + ['lastupdate' => Capsule::raw('now()')]);
            } elseif ($row->first() !== null) {
                // An add-on has no columns of its own for these.
                Addon::find($named['id'])->serviceProperties->save(array_filter([
                    'Disk Limit' => (string) $megabytes['disklimit'],
                    'Bandwidth Limit' => (string) $megabytes['bwlimit'],
                    'Bandwidth Usage' => isset($megabytes['bwusage']) ? (string) $megabytes['bwusage'] : null,
                    'Last Update' => date('Y-m-d H:i:s'),
                ], 'is_string'));
            }
        }
    });
}

/** For WHMCS's tool that compares its services with the servers in Berth. */
function berth_ListAccounts(array $params): array
{
    try {
        $accounts = [];
        foreach (berth_client($params)->servers() as $server) {
            $accounts[] = [
                'email' => $server['owner']['email'],
                'username' => $server['hostname'],
                'domain' => $server['hostname'],
                'uniqueIdentifier' => $server['id'],
                'product' => $server['package']['id'],
                'primaryip' => $server['ipv4'],
                'created' => date('Y-m-d H:i:s', strtotime($server['createdAt'])),
                'status' => $server['status'] === 'suspended' ? 'Suspended' : 'Active',
            ];
        }
        return ['success' => true, 'accounts' => $accounts];
    } catch (BerthError $error) {
        return ['success' => false, 'error' => $error->words()];
    }
}

// ---------------------------------------------------------------- helpers
/** WHMCS shows what is answered: `success`, or the reason in words. */
function berth_try(callable $work): string
{
    try {
        $work();
        return 'success';
    } catch (BerthError $error) {
        return $error->words();
    }
}

/** The id of the service's server. */
function berth_server(array $params): string
{
    return berth_client($params)->serverId(berth_service($params));
}

/** The same for what shows the server or leads into it: it belongs to this client. */
function berth_ownServer(array $params): string
{
    return berth_client($params)->ownServerId(berth_service($params));
}

/**
 * Used traffic as WHMCS bills it: what is above the limit of the product costs. Traffic that was bought in Berth is paid
 * already, so it is taken off what is above the allowance of the package.
 */
function berth_billedMegabytes(BerthClient $client, array $server, array $traffic): int
{
    $used = $traffic['inBytes'] + $traffic['outBytes'];
    $allowance = ($server['trafficGb'] ?? 0) * 1e9;
    if ($allowance > 0 && $used > $allowance) {
        $bought = $client->call('GET', "/servers/{$server['id']}/bandwidth")['addedGb'] * 1e9;
        $used = max($allowance, $used - $bought);
    }
    return (int) round($used / 1e6);
}

/** A configurable option that the client chose, by its id or its name; otherwise the setting of the product. */
function berth_chosen(array $params, string $option, int $setting, callable $load): string
{
    $value = trim((string) ($params['configoptions'][$option] ?? ''));
    if ($value === '') {
        return trim((string) ($params["configoption$setting"] ?? ''));
    }
    if (preg_match('/^(pkg|grp|img)_/', $value) || $value === 'none') {
        return $value;
    }
    $id = array_search($value, $load(), true);
    if ($id === false) {
        throw new BerthError('validation_failed', "Berth has nothing that is called “{$value}” for the option $option.");
    }
    return (string) $id;
}

/** The domain of the order. An add-on has that of its service, which is the name of another server. */
function berth_hostname(array $params): string
{
    $addon = (string) ($params['addonId'] ?? '');
    $wanted = strtolower(trim((string) ($addon === '' ? $params['domain'] ?? '' : $params['customfields']['Hostname'] ?? '')));
    $label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
    $isHostname = preg_match("/^$label(\\.$label)*$/D", $wanted) && strlen($wanted) <= 253;
    return $isHostname ? $wanted : "server{$params['serviceid']}" . ($addon === '' ? '' : "-$addon");
}
